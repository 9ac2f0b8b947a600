import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { nobodyUser } from '../../../src/postgres/user.ts'
import { freePort } from '../deploy/nginx.ts'
import { query } from './database.ts'

// The PgBouncers of this machine: the one that PGBOUNCER names, and those of PATH.
const installed = [
  process.env.PGBOUNCER,
  ...[...(process.env.PATH ?? '').split(':'), '/usr/sbin'].map(folder => join(folder, 'pgbouncer')),
].flatMap(file => {
  if (!file) return []
  const [, major, minor] =
    /PgBouncer (\d+)\.(\d+)/.exec(spawnSync(file, ['--version']).stdout?.toString() ?? '') ?? []
  return major === undefined ? [] : [{ file, version: Number(major) * 1000 + Number(minor) }]
})

// From 1.21 on it prepares statements in each session of the pool.
export const oldPgBouncer = installed.find(({ version }) => version < 1021)?.file
export const newPgBouncer = installed.find(({ version }) => version >= 1021)?.file
if (!oldPgBouncer)
  console.warn('SKIPPED: no PgBouncer before 1.21 is on this machine, so its refusal was not tried.')
if (!newPgBouncer)
  console.warn(
    'SKIPPED: no PgBouncer from 1.21 on is on this machine (PGBOUNCER=FILE), so nothing ran behind one.',
  )

export type PgBouncer = { url: string; start(): Promise<void>; kill(): Promise<void>; stop(): Promise<void> }

// Of the file in deploy/, without what a machine of tests does not have.
export function shippedSettings(): Record<string, string> {
  const text = readFileSync('deploy/pgbouncer/pgbouncer.ini', 'utf8')
  const lines = [...text.slice(text.indexOf('[pgbouncer]')).matchAll(/^(\w+) = (.+)$/gm)]
  const own = /^(listen_|auth_|server_tls_)/
  return Object.fromEntries(
    lines.flatMap(([, name = '', value = '']) => (own.test(name) ? [] : [[name, value]])),
  )
}

// Runs one in front of a database. `settings` are lines of its file.
export async function startPgBouncer(
  file: string,
  databaseUrl: string,
  settings: Record<string, string | number>,
) {
  const { user, password, host, port, name } = partsOf(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  chmodSync(folder, 0o755)
  const listenPort = await freePort()
  const ini = join(folder, 'pgbouncer.ini')
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: listenPort,
    unix_socket_dir: '',
    auth_type: 'any',
    logfile: '',
    ...settings,
  }
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`)
  writeFileSync(
    ini,
    `[databases]\n${name} = host=${host} port=${port} dbname=${name} user=${user} password=${password}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  const url = `postgres://${user}@127.0.0.1:${listenPort}/${name}`
  // It does not run as root. The folder of a socket can be entered by its owner only.
  const { uid, gid } = host.startsWith('/')
    ? statSync(host)
    : process.getuid?.() === 0
      ? nobodyUser
      : statSync(folder)
  let program: ReturnType<typeof spawn>
  const pooler: PgBouncer = {
    url,
    async start() {
      program = spawn(file, ['-q', ini], { uid, gid, stdio: 'ignore' })
      while (program.exitCode === null && !(await answers(url))) await sleep(20)
      if (program.exitCode !== null) throw new Error(`PgBouncer ended with ${program.exitCode}`)
    },
    async kill() {
      program.kill('SIGKILL')
      await once(program, 'exit')
    },
    async stop() {
      if (program.exitCode === null && program.signalCode === null) await pooler.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await pooler.start()
  return pooler
}

const answers = (url: string) =>
  query(url, 'select 1').then(
    () => true,
    () => false,
  )

function partsOf(databaseUrl: string) {
  const { user = '', password, host, port, database = '' } = new Client({ connectionString: databaseUrl })
  return { user, password, host, port, name: database }
}
