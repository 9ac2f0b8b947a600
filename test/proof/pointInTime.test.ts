import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { nobodyUser } from '../../src/postgres/user.ts'
import { newMasterKey, tollgateJson } from '../cli/tollgate.ts'
import { codeUnder } from '../docs/blocks.ts'
import { query } from '../support/database/database.ts'
import { until } from '../support/database/ownServer.ts'
import { testGateway } from '../support/gateway/gateway.ts'
import { checkPath } from '../support/merchant/load.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

// The section of docs/backup.md on point-in-time recovery, with its settings and commands as they are printed there. The
// private PostgreSQL has no pg_basebackup, so it runs on a PostgreSQL of this machine.
const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
const bin = versions
  .map(version => `/usr/lib/postgresql/${version}/bin`)
  .find(folder => ['initdb', 'postgres', 'pg_basebackup'].every(name => existsSync(join(folder, name))))
if (!bin)
  console.warn(
    'SKIPPED: no PostgreSQL with pg_basebackup is in /usr/lib/postgresql, so no point in time was recovered.',
  )

const heading = 'Point-in-time recovery with your own PostgreSQL'
const folder = mkdtempSync(join(tmpdir(), 'tollgate-pitr-'))
const block = (at: number) =>
  codeUnder('docs/backup.md', heading, at).replaceAll('/backup/', `${folder}/backup/`)
const user = process.getuid?.() === 0 ? { uid: nobodyUser.uid, gid: nobodyUser.gid } : undefined
const servers: ChildProcess[] = []
afterAll(async () => {
  for (const server of servers.filter(one => one.exitCode === null && one.signalCode === null))
    await stop(server)
  rmSync(folder, { recursive: true, force: true })
})

function makeFolder(...names: string[]): string {
  const path = join(folder, ...names)
  mkdirSync(path, { mode: 0o700 })
  if (user) chownSync(path, user.uid, user.gid)
  return path
}

// A server on a socket of its own, with the user and the database of the gateway.
async function startServer(dataDir: string, sockets: string) {
  const server = spawn(
    join(bin ?? '', 'postgres'),
    ['-D', dataDir, '-k', sockets, '-c', 'listen_addresses='],
    {
      ...user,
      cwd: dataDir,
      stdio: 'ignore',
    },
  )
  servers.push(server)
  const url = (database: string) =>
    `postgres://tollgate@/${database}?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`
  await until('the server accepts writes', () =>
    query(url('postgres'), 'select where not pg_is_in_recovery()'),
  )
  return { server, url: url('tollgate'), maintenance: url('postgres') }
}

async function stop(server: ChildProcess) {
  server.kill('SIGINT')
  await once(server, 'exit')
}

test.skipIf(!bin)('a database goes back to a moment, and is recognized as a copy', async () => {
  chmodSync(folder, 0o755)
  makeFolder('backup')
  makeFolder('backup', 'wal')
  const dataDir = makeFolder('one')
  const sockets = makeFolder('sockets')
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(bin ?? '', name), args, { ...user, cwd: dataDir, stdio: 'pipe' })
  run('initdb', '-D', dataDir, '-U', 'tollgate', '--auth=trust', '-E', 'UTF8', '--locale=C')
  appendFileSync(join(dataDir, 'postgresql.conf'), block(0))
  const first = await startServer(dataDir, sockets)
  await query(first.maintenance, 'create database tollgate')
  const key = { TOLLGATE_MASTER_KEY: newMasterKey() }
  const original = await testGateway(key, {}, { url: first.url, drop: async () => {} })
  const { test: shop } = await original.addMerchant()
  const bought = async () => String((await post(original.url, signedRequest(shop))).body.invoice_id)

  const beforeBase = await bought()
  const env = { PATH: `${bin}:${process.env.PATH}`, PGHOST: sockets, PGUSER: 'tollgate' }
  execFileSync('sh', ['-ec', block(1)], { ...user, cwd: folder, env, stdio: 'pipe' })
  const afterBase = await bought()
  await sleep(10)
  const [{ moment }] = await query(first.url, 'select now()::text as moment')
  await sleep(10)
  const afterMoment = await bought()
  await original.stop()
  const [{ file }] = await query(first.url, 'select pg_walfile_name(pg_switch_wal()) as file')
  await until('the log is archived', async () => (existsSync(join(folder, 'backup/wal', file)) ? [file] : []))
  await stop(first.server)

  const recovered = join(folder, 'two')
  cpSync(join(folder, 'backup/base'), recovered, { recursive: true })
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, recovered])
  chmodSync(recovered, 0o700)
  const goBack = block(2).replace(/(recovery_target_time = )'[^']*'/, `$1'${moment}'`)
  expect(goBack).toContain(moment)
  appendFileSync(join(recovered, 'postgresql.conf'), `${goBack}archive_mode = off\n`)
  writeFileSync(join(recovered, 'recovery.signal'), '')
  const second = await startServer(recovered, makeFolder('other'))

  const there = { ...key, DATABASE_URL: second.url }
  const node = await testGateway(key, {}, { url: second.url, drop: async () => {} })
  try {
    const ask = async (invoice_id: string) => (await send(node.url + checkPath(shop, invoice_id))).http
    expect([await ask(beforeBase), await ask(afterBase), await ask(afterMoment)]).toEqual([200, 200, 404])
    const ready = () => send(`${node.url}/readyz`)
    expect(await ready()).toMatchObject({ http: 503, text: expect.stringMatching(/is a copy/) })
    expect((await tollgateJson(there, 'ledger', 'verify')).code).toBe(0)
    expect((await tollgateJson(there, 'adopt', '--yes')).data).toMatchObject({ adopted: true })
    await expect.poll(async () => (await ready()).http).toBe(200)
  } finally {
    await node.stop()
  }
})
