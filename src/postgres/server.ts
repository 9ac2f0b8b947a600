import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildProgram, here, run } from './childProcess.ts'
import { EmbeddedError, explain } from './error.ts'
import type { DataFolder } from './folder/dataFolder.ts'
import { closeToGuests } from './folder/guestLock.ts'
import { readPostmaster, watchReadiness } from './folder/postmasterPid.ts'
import { reasonIn } from './serverLog.ts'
import { loginWith } from './session.ts'

const pollMs = 20
// Repair after a crash may take minutes on a slow disk, and cutting it short means to begin it again.
const readyWithinMs = 15 * 60_000

const settings = {
  listen_addresses: '',
  port: '5432',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '60',
  superuser_reserved_connections: '0', // it never comes while others are there
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Statements and values stay out of the log: those who sent them are told what was wrong with them.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

export type Server = { program: ChildProgram; sockets: string; isReady(): boolean }

export type LaunchOptions = {
  settings?: Record<string, string>
  group?: number // may enter the folder of the socket; else only the user of the server and root may
}

// Gives back undefined when another server has the files: PostgreSQL's own lock decides that. A process id
// which is known to be stale is passed as a relative, the one kind of process that its lock disregards.
export async function launch(
  home: DataFolder,
  stalePid: number | undefined,
  { settings: more = {}, group }: LaunchOptions = {},
): Promise<Server | undefined> {
  const sockets = makeSocketFolder(home, group)
  try {
    const args = Object.entries({ ...settings, ...more }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    const stale = stalePid === undefined ? {} : { PG_GRANDPARENT_PID: String(stalePid) }
    const env = { SOCKETS: sockets, ...stale }
    const program = run(home, 'postgres', home.cluster, ['-D', here, '-k', sockets, ...args], env)
    if (await getsReady(home, program))
      return { program, sockets, isReady: watchReadiness(home.cluster, program.ended) }
    const said = program.said()
    const why = reasonIn(said) ?? (await program.ended)
    if (!isTaken(said)) throw explain(why.replace(here, home.cluster), home.dataDir)
  } catch (error) {
    rmSync(sockets, { recursive: true, force: true })
    throw error
  }
  rmSync(sockets, { recursive: true, force: true })
  return undefined
}

const isTaken = (said: string) =>
  /lock file "postmaster.pid" (already exists|is empty)|shared memory block .* is still in use/.test(said)

// The path of a socket has at most 107 bytes, so it never lies in the data folder. Root's own place for
// temporary files may be closed to others.
function makeSocketFolder({ runAs }: DataFolder, group: number | undefined): string {
  const place = !runAs && /^[\w./-]{1,70}$/.test(tmpdir()) ? tmpdir() : '/tmp'
  try {
    const sockets = mkdtempSync(join(place, 'tollgate-')) // mode 0700
    if (runAs) chownSync(sockets, runAs.uid, group ?? runAs.gid)
    if (runAs && group !== undefined) chmodSync(sockets, 0o710)
    return sockets
  } catch (error) {
    throw explain(error, place)
  }
}

async function getsReady(home: DataFolder, program: ChildProgram): Promise<boolean> {
  const deadline = performance.now() + readyWithinMs
  const ended = program.ended.then(() => true)
  while (!(await Promise.race([ended, sleep(pollMs, false)]))) {
    if (isReady(home, program)) return true
    if (performance.now() < deadline) continue
    await stopProgram(program, 0)
    throw new EmbeddedError(
      `PostgreSQL is not ready after ${readyWithinMs / 60_000} minutes: see ${home.log}`,
    )
  }
  return false
}

// PostgreSQL writes its state down, which can be read without calling back (each callback is a line in its log).
function isReady({ cluster }: DataFolder, { pid }: ChildProgram): boolean {
  const holder = readPostmaster(cluster)
  return holder !== undefined && holder.pid === pid && holder.ready
}

// Sessions get until the deadline to finish, guests first; those that are left then are cut.
export async function stopServer(home: DataFolder, server: Server, withinMs: number) {
  const { program, sockets } = server
  const deadline = performance.now() + withinMs
  const door = await closeToGuests(sockets, loginWith(home.password), withinMs).catch(() => undefined) // it has died
  const stopped = stopProgram(program, Math.max(0, deadline - performance.now()))
  // The door opens again only when everyone can read that the server is stopping.
  while (server.isReady()) await sleep(pollMs)
  await door?.close()
  await stopped
}

export async function stopProgram(program: ChildProgram, patienceMs: number) {
  const ended = program.ended.then(() => true)
  for (const [signal, waitMs] of [
    ['SIGTERM', patienceMs], // no new sessions
    ['SIGINT', 30_000], // no sessions
    ['SIGQUIT', 10_000], // no tidy end: the next start repairs
    ['SIGKILL', 60_000],
  ] as const) {
    program.signal(signal)
    if (await Promise.race([ended, sleep(waitMs, false, { ref: false })])) return
  }
}
