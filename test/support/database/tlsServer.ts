import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { here, run } from '../../../src/postgres/childProcess.ts'
import { openDataFolder } from '../../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../../src/postgres/embedded.ts'
import { stopProgram } from '../../../src/postgres/server.ts'
import { freePort } from '../deploy/nginx.ts'
import { query } from './database.ts'

// A real PostgreSQL on a TCP port, whose certificate is for "localhost" only. Its database "postgres" is for clients with a
// certificate and without TLS it is closed.
export async function startTlsServer() {
  const base = mkdtempSync(join(tmpdir(), 'tollgate-tls-'))
  const certificates = makeCertificates(base)
  const dataDir = join(base, 'data')
  await (await startEmbedded(dataDir, 'command')).stop()
  const home = openDataFolder(dataDir)
  const inCluster = (name: string) => join(home.cluster, name)
  const user = 'tollgate_app'
  writeFileSync(
    inCluster('pg_hba.conf'),
    `local all all trust
hostssl postgres all all cert
host postgres all all reject
host all all all scram-sha-256
`,
  )
  for (const name of ['server.crt', 'server.key']) {
    execFileSync('cp', [join(base, name), inCluster(name)])
    if (home.runAs) chownSync(inCluster(name), home.runAs.uid, home.runAs.gid)
    chmodSync(inCluster(name), 0o600)
  }
  execFileSync('cp', [certificates.ca, inCluster('ca.crt')])
  chmodSync(inCluster('ca.crt'), 0o644)
  appendFileSync(inCluster('postgresql.auto.conf'), `ssl = on\nssl_ca_file = 'ca.crt'\n`)
  const port = await freePort()
  const sockets = mkdtempSync('/tmp/tollgate-')
  if (home.runAs) chownSync(sockets, home.runAs.uid, home.runAs.gid)
  const socketUrl = `postgres://tollgate@/tollgate?host=${encodeURIComponent(sockets)}&port=${port}`
  const args = ['-D', here, '-k', sockets, '-c', 'listen_addresses=127.0.0.1', '-c', `port=${port}`]
  const program = run(home, 'postgres', home.cluster, args)
  while (!(await query(socketUrl, 'select 1').catch(() => undefined))) await sleep(50)
  return {
    ...certificates,
    socketUrl,
    url: (host: string, parameters: string, database = 'tollgate') =>
      `postgres://${user}:${home.password}@${host}:${port}/${database}${parameters && '?'}${parameters}`,
    async setTls(isOn: boolean) {
      await query(socketUrl, `alter system set ssl = ${isOn ? 'on' : 'off'}`)
      await query(socketUrl, 'select pg_reload_conf()')
      while ((await query(socketUrl, 'show ssl'))[0]?.ssl !== (isOn ? 'on' : 'off')) await sleep(20)
    },
    async stop() {
      await stopProgram(program, 0)
      rmSync(sockets, { recursive: true, force: true })
      rmSync(base, { recursive: true, force: true })
    },
  }
}

const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })

function makeCertificates(folder: string) {
  const at = (name: string) => join(folder, name)
  const newKey = ['-newkey', 'rsa:2048', '-nodes', '-keyout']
  for (const ca of ['ca', 'other'])
    openssl(
      'req',
      '-x509',
      ...newKey,
      at(`${ca}.key`),
      '-out',
      at(`${ca}.crt`),
      '-subj',
      `/CN=${ca}`,
      '-days',
      '2',
    )
  for (const [name, cn, extra] of [
    ['server', 'localhost', 'subjectAltName=DNS:localhost'],
    ['client', 'tollgate_app', 'extendedKeyUsage=clientAuth'],
  ] as const) {
    const request = ['req', ...newKey, at(`${name}.key`), '-out', at(`${name}.csr`)]
    openssl(...request, '-subj', `/CN=${cn}`, '-addext', extra)
    const sign = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2']
    openssl(
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      ...sign,
      '-copy_extensions',
      'copy',
      '-out',
      at(`${name}.crt`),
    )
  }
  return {
    ca: at('ca.crt'),
    otherCa: at('other.crt'),
    clientCert: at('client.crt'),
    clientKey: at('client.key'),
  }
}
