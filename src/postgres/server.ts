import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildProgram, here, reasonIn, run } from './childProcess.ts'
import type { DataFolder } from './dataFolder.ts'
import { EmbeddedError, explain } from './error.ts'
import { readPostmaster, watchReadiness } from './postmasterPid.ts'
import { appLogin, lockOutGuests } from './session.ts'

const pollMs = 20
// Recovery after a crash may take minutes on a slow disk, and would begin again after an interruption.
const readyWithinMs = 15 * 60_000

const settings = {
  listen_addresses: '',
  port: '5432',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '100',
  superuser_reserved_connections: '0', // the superuser connects only to a maintenance server
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The log has no statements and no values. The client receives the error.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

export type Server = { program: ChildProgram; sockets: string; isReady(): boolean }

// Returns undefined if another server uses the files. PostgreSQL reads that from its lock file, which contains a process id.
// If that id is known to be stale, it is passed as the grandparent's, which the check ignores. Members of `group` may enter
// the folder of the socket, besides the user of the server and root.
export async function launch(
  home: DataFolder,
  stalePid: number | undefined,
  { settings: more, group }: { settings?: Record<string, string>; group?: number } = {},
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
    const output = program.output()
    const why = reasonIn(output) ?? (await program.ended)
    if (!isTaken(output)) throw explain(why.replace('/proc/self/cwd', home.cluster), home.dataDir)
  } catch (error) {
    rmSync(sockets, { recursive: true, force: true })
    throw error
  }
  rmSync(sockets, { recursive: true, force: true })
  return undefined
}

const isTaken = (output: string) =>
  /lock file "postmaster.pid" (already exists|is empty)|shared memory block .* is still in use/.test(output)

// The path of a socket may have 107 bytes, so it is not in the data folder. Root's folder for temporary files may be closed
// to other users.
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

// Reads the state from postmaster.pid: each connection would be a line in the log.
function isReady({ cluster }: DataFolder, { pid }: ChildProgram): boolean {
  const holder = readPostmaster(cluster)
  return holder !== undefined && holder.pid === pid && holder.ready
}

// Guests, and then all sessions, have until the deadline to finish. Then their connections are closed.
export async function stopServer(home: DataFolder, server: Server, withinMs: number) {
  const { program, sockets } = server
  const deadline = performance.now() + withinMs
  const login = appLogin(home.password)
  const guestsLockedOut = await lockOutGuests(sockets, login, withinMs).catch(() => undefined) // the server has ended
  const stopped = stopProgram(program, Math.max(0, deadline - performance.now()))
  // The lock is released only when other processes can read that the server is stopping.
  while (server.isReady()) await sleep(pollMs)
  await guestsLockedOut?.close()
  await stopped
}

export async function stopProgram(program: ChildProgram, waitForSessionsMs: number) {
  const ended = program.ended.then(() => true)
  for (const [signal, waitMs] of [
    ['SIGTERM', waitForSessionsMs], // refuses new sessions
    ['SIGINT', 30_000], // ends all sessions
    ['SIGQUIT', 10_000], // exits without a checkpoint: the next start recovers
    ['SIGKILL', 60_000],
  ] as const) {
    program.signal(signal)
    if (await Promise.race([ended, sleep(waitMs, false, { ref: false })])) return
  }
}
