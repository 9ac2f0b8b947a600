import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { appDatabase, appRole } from '../../src/postgres/session.ts'
import { nobodyUser, type User } from '../../src/postgres/user.ts'
import { placeInMemory } from '../support/database/placeInMemory.ts'
import { freePort } from '../support/deploy/nginx.ts'
import { type Cluster, type Report, UnavailableError } from './kind.ts'

// Two servers that Patroni keeps as a primary and its synchronous standby, with one etcd.
export type PatroniCluster = Cluster & {
  hostsUrl: string // of both
  members: readonly PatroniMember[]
  primary(): Promise<PatroniMember | undefined> // the one that accepts writes
}

export type PatroniMember = {
  name: string
  url: string
  acceptsWrites(): Promise<boolean>
  follows(): Promise<boolean> // as a streaming standby
  kill(): Promise<void> // SIGKILL of Patroni and of PostgreSQL
  start(): void // Patroni, which starts PostgreSQL
  startAlone(): Promise<() => Promise<void>> // PostgreSQL without Patroni, as it was; returns how it is stopped
}

const packages = ['patroni[etcd3]==4.1.5', 'psycopg2-binary==2.9.11']
const bin = '/usr/lib/postgresql/15/bin'
const python = '/usr/bin/python3' // not one of the user's home
const startWithinMs = 180_000
const memberNames = ['one', 'two']

const isRoot = process.getuid?.() === 0

// PostgreSQL does not run as root, and its user has to read the programs.
const venv = join(isRoot ? '/var/cache' : join(homedir(), '.cache'), 'tollgate-patroni-4.1.5')

export async function startPatroni(report: Report): Promise<PatroniCluster> {
  const missing = [
    ...(existsSync(join(bin, 'postgres')) ? [] : ['postgresql-15']),
    ...((await isProgram('etcd')) ? [] : ['etcd-server']),
    ...(existsSync(python) ? [] : ['python3-venv']),
  ]
  if (missing.length > 0)
    throw new UnavailableError(`Patroni needs what is not here: apt-get install ${missing.join(' ')}`)
  await makeVenv(report)
  const folder = mkdtempSync(join(placeInMemory(), 'tollgate-patroni-'))
  chmodSync(folder, 0o755)
  const programs: ChildProcess[] = []
  const members: Member[] = []
  let isStopping = false
  const stop = async () => {
    isStopping = true
    for (const member of members) await member.kill()
    for (const program of programs) await end(program, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const passwords = { superuser: aPassword(), replication: aPassword(), app: aPassword() }
    const etcd = await startEtcd(folder)
    programs.push(etcd.program)
    for (const name of memberNames) members.push(await openMember(folder, name, etcd.address, passwords))
    report('starts Patroni, which creates the database')
    for (const member of members) member.start()
    const first = await until('a primary', () => primaryOf(members))
    await queryAt(first.superuserUrl, [
      `create role ${appRole} login createdb createrole password '${passwords.app}'`,
      `create database ${appDatabase} owner ${appRole}`,
    ])
    report('waits for the standby')
    await until('the standby', async () => {
      const following = await Promise.all(members.map(member => member.follows()))
      return following.includes(true) || undefined
    })
    const hosts = members.map(({ url }) => new URL(url).host).join()
    return {
      url: first.url,
      hostsUrl: first.url.replace(new URL(first.url).host, hosts),
      what: `PostgreSQL 15 with Patroni and a standby (DATABASE_URL with both hosts ${hosts})`,
      ended: once(etcd.program, 'exit').then(() =>
        isStopping ? new Promise<string>(() => {}) : 'etcd has ended',
      ),
      members,
      primary: () => primaryOf(members),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const aPassword = () => randomBytes(16).toString('hex')

const isProgram = (name: string) =>
  promisify(execFile)('sh', ['-c', `command -v ${name}`]).then(
    () => true,
    () => false,
  )

// Made once, and kept.
async function makeVenv(report: Report) {
  if (existsSync(join(venv, 'bin', 'patroni'))) return
  try {
    report(`fetches ${packages.join(' and ')} into ${venv}`)
    mkdirSync(join(venv, '..'), { recursive: true })
    rmSync(venv, { recursive: true, force: true })
    await promisify(execFile)(python, ['-m', 'venv', venv])
    await promisify(execFile)(join(venv, 'bin', 'pip'), ['install', '--quiet', ...packages])
  } catch (error) {
    rmSync(venv, { recursive: true, force: true })
    const { stderr = '', message } = error as Error & { stderr?: string }
    const why = (stderr.trim() || message).split('\n').at(-1)
    throw new UnavailableError(
      `Patroni is not here, and pip cannot install it (${why}). Make the Python package index reachable, or run ` +
        `apt-get install python3-venv.`,
    )
  }
}

const databaseUser: User | undefined = isRoot ? nobodyUser : undefined

function run(folder: string, name: string, file: string, args: string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), 'a')
  const env = { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  const options = { cwd: folder, env, detached: true, ...databaseUser }
  const program = spawn(file, args, { ...options, stdio: ['ignore', log, log] })
  program.on('error', error => writeSync(log, `${error.message}\n`))
  program.on('close', () => closeSync(log))
  return program
}

async function end(program: ChildProcess | undefined, signal: NodeJS.Signals) {
  if (!program?.pid || program.exitCode !== null || program.signalCode !== null) return
  const ended = once(program, 'exit')
  program.kill(signal)
  await ended
}

function makeFolder(path: string) {
  mkdirSync(path, { mode: 0o700 })
  if (databaseUser) chownSync(path, databaseUser.uid, databaseUser.gid)
}

async function startEtcd(folder: string) {
  makeFolder(join(folder, 'etcd'))
  const [clients, peers] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const own = ['--name', 'tollgate', '--data-dir', join(folder, 'etcd'), '--enable-v2=false']
  const forClients = [
    '--listen-client-urls',
    `http://${clients}`,
    '--advertise-client-urls',
    `http://${clients}`,
  ]
  const forPeers = [
    '--listen-peer-urls',
    `http://${peers}`,
    '--initial-advertise-peer-urls',
    `http://${peers}`,
  ]
  const args = [...own, ...forClients, ...forPeers, '--initial-cluster', `tollgate=http://${peers}`]
  const program = run(folder, 'etcd', 'etcd', args)
  await until('etcd', async () => {
    const answer = await fetch(`http://${clients}/health`).catch(() => undefined)
    return answer?.ok || undefined
  })
  return { program, address: clients }
}

type Passwords = { superuser: string; replication: string; app: string }
type Member = PatroniMember & { superuserUrl: string }

async function openMember(folder: string, name: string, etcd: string, passwords: Passwords): Promise<Member> {
  const home = join(folder, name)
  makeFolder(home)
  const data = join(home, 'data')
  const port = await freePort()
  const settings = join(home, 'patroni.json') // Patroni reads YAML, and so JSON
  const rest = await freePort()
  const text = JSON.stringify(settingsOf({ name, home, data, port, rest, etcd, passwords }))
  writeFileSync(settings, text, { mode: 0o600 })
  if (databaseUser) chownSync(settings, databaseUser.uid, databaseUser.gid)
  const at = `127.0.0.1:${port}`
  const superuserUrl = `postgres://postgres:${passwords.superuser}@${at}/postgres?sslmode=disable`
  const url = `postgres://${appRole}:${passwords.app}@${at}/${appDatabase}?sslmode=disable`
  const says = (statement: string) =>
    queryAt(superuserUrl, [statement]).then(
      rows => rows.length > 0,
      () => false,
    )
  let patroni: ChildProcess | undefined
  return {
    name,
    url,
    superuserUrl,
    acceptsWrites: () =>
      says(`select where not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off'`),
    follows: () => says('select from pg_stat_wal_receiver where pg_is_in_recovery()'),
    async kill() {
      patroni?.kill('SIGKILL')
      await killServer(data)
      await end(patroni, 'SIGKILL')
      await killServer(data) // that Patroni had just started
    },
    start: () => void (patroni = run(home, 'patroni', join(venv, 'bin', 'patroni'), [settings])),
    async startAlone() {
      const args = ['-D', data, '-p', String(port), '-k', home, '-c', 'listen_addresses=127.0.0.1']
      const alone = ['-c', 'synchronous_standby_names=', '-c', 'cluster_name=alone']
      const program = run(home, 'alone', join(bin, 'postgres'), [...args, ...alone])
      await until(`${name} alone`, async () => (await says('select')) || undefined)
      return () => end(program, 'SIGQUIT')
    },
  }
}

type Settings = {
  name: string
  home: string
  data: string
  port: number
  rest: number
  etcd: string
  passwords: Passwords
}

function settingsOf({ name, home, data, port, rest, etcd, passwords }: Settings) {
  return {
    scope: 'tollgate',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { hosts: [etcd] },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 5,
        retry_timeout: 5,
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: bin,
      pgpass: join(home, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: passwords.superuser },
        replication: { username: 'replicator', password: passwords.replication },
      },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
      ],
      parameters: { unix_socket_directories: home },
    },
  }
}

// The postmaster's sessions end when they notice that it is gone.
async function killServer(data: string) {
  const file = join(data, 'postmaster.pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0
  if (!isPostmaster(pid, data)) return
  process.kill(pid, 'SIGKILL')
  while (isPostmaster(pid, data)) await sleep(20)
}

// The number may belong to another program by now.
function isPostmaster(pid: number, data: string): boolean {
  try {
    const [state] = /(?<=\) )\w/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
    return state !== 'Z' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data)
  } catch {
    return false
  }
}

async function primaryOf(members: readonly Member[]): Promise<Member | undefined> {
  const writing = await Promise.all(members.map(member => member.acceptsWrites()))
  return members.find((_, at) => writing[at])
}

async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const since = performance.now(); performance.now() - since < startWithinMs; await sleep(200)) {
    const found = await ask()
    if (found !== undefined) return found
  }
  throw new Error(`Patroni: not ready: ${what}, within ${startWithinMs / 1000} s`)
}

async function queryAt(connectionString: string, statements: string[]): Promise<unknown[]> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: unknown[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end().catch(() => {})
  }
}
