import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { stopProgram } from '../../src/postgres/server.ts'
import { appRole } from '../../src/postgres/session.ts'
import type { Report } from '../cluster/kind.ts'
import { type CitusWorker, startCitus } from '../cluster/citus.ts'
import { type PatroniCluster, startPatroni } from '../cluster/patroni.ts'
import { placeInMemory } from '../support/database/placeInMemory.ts'
import { query } from '../support/database/database.ts'
import { type OwnServer, startServer } from '../support/database/ownServer.ts'

// The database of a torture run: one server, several of which one is the primary, or a coordinator with workers.
export type TestedDatabase = {
  what: string
  url: string // of the gateway's role, past the proxies
  hosts: readonly string[] // the URL of each server: every node has a proxy to each
  primaryUrl(): Promise<string> // of the server that accepts writes now
  one?: OneServer
  patroni?: PatroniCluster
  citus?: { workers: readonly CitusWorker[]; workerOf(merchant_id: string): Promise<CitusWorker | undefined> }
  stop(): Promise<void>
}

// A server that this program starts and kills itself.
export type OneServer = {
  adminUrl: string
  folder: string // of its files, all of them
  hasOwnDisk: boolean // a small file system that can be filled
  pid(): number
  children(): number[] // its other processes
  setClock?(shiftSeconds: number): void
  kill(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> // SIGQUIT is PostgreSQL's immediate shutdown
  ensureRunning(): Promise<void> // as a supervisor would
}

const startWithinMs = 300_000
// PostgreSQL 18 can hang if its startup process fails too while it restarts after a crash: its other processes wait for ever.
const patienceMs = 10_000
const answerWithinMs = 5000

// With its own disk and clock, if this machine allows that: it is slower then.
export async function openOneServer({ forAllFaults = false } = {}): Promise<TestedDatabase> {
  const folder = mkdtempSync(join(placeInMemory(), 'tollgate-torture-'))
  chmodSync(folder, 0o755) // the server runs as another user than root
  const hasOwnDisk = forAllFaults && mounts(folder)
  const clock = forAllFaults && faketimeLibrary ? fakeClock(faketimeLibrary, folder) : undefined
  const dataDir = join(folder, 'data')
  const remove = () => {
    if (hasOwnDisk) spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  let server: OwnServer
  try {
    await (await startEmbedded(dataDir, 'command')).stop()
    server = await startServer(dataDir, clock?.env)
    await query(server.url, `alter system set max_wal_size = '128MB'`)
    await query(server.url, 'select pg_reload_conf()')
  } catch (error) {
    remove()
    throw error
  }
  const url = server.url.replace('tollgate@', `${appRole}@`)
  let hasEnded = false
  const watch = () => {
    hasEnded = false
    const { program } = server
    void program.ended.then(() => (hasEnded ||= server.program === program))
  }
  watch()
  const one: OneServer = {
    adminUrl: server.url,
    folder,
    hasOwnDisk,
    setClock: clock?.set,
    children: () => childrenOf(server.program.pid ?? 0),
    pid: () => server.program.pid ?? 0,
    async kill(signal) {
      const { program } = server
      process.kill(program.pid ?? 0, signal)
      await program.ended
    },
    async ensureRunning() {
      const since = Date.now()
      let hangsAt = since + patienceMs
      for (; !(await answers(server.url)); await sleep(100)) {
        if (Date.now() - since > startWithinMs) throw new Error(`PostgreSQL: ${server.program.output()}`)
        if (!hasEnded && Date.now() < hangsAt) continue
        if (!hasEnded) await one.kill('SIGKILL')
        hangsAt = Date.now() + 2 * (Date.now() - since) // longer each time, because a starved machine recovers slowly
        // After a SIGKILL its sessions use the shared memory for a moment, so that a start may fail.
        await server.restart().catch(() => {})
        watch()
      }
    },
  }
  return {
    what: 'one PostgreSQL 18',
    url,
    hosts: [url],
    primaryUrl: async () => url,
    one,
    async stop() {
      if (!hasEnded) await stopProgram(server.program, 0)
      rmSync(server.sockets, { recursive: true, force: true })
      remove()
    },
  }
}

// The server is started with libfaketime, where that is installed, and reads the file every second.
const faketimeLibrary = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
].find(file => existsSync(file))

const diskBytes = 700 * 2 ** 20

const mounts = (folder: string) =>
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes},mode=755`, 'tollgate-torture', folder])
    .status === 0

function fakeClock(library: string, folder: string) {
  const file = join(folder, 'clock')
  const set = (shiftSeconds: number) => writeFileSync(file, `${shiftSeconds < 0 ? '' : '+'}${shiftSeconds}\n`)
  set(0)
  chmodSync(file, 0o644)
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { set, env }
}

export function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
  return stdout.trim().split('\n').filter(Boolean).map(Number)
}

export async function openPatroni(report: Report): Promise<TestedDatabase> {
  const patroni = await startPatroni(report)
  return {
    what: patroni.what,
    url: patroni.hostsUrl,
    hosts: patroni.members.map(({ url }) => url),
    primaryUrl: async () => (await patroni.primary())?.url ?? patroni.url,
    patroni,
    stop: () => patroni.stop(),
  }
}

export async function openCitus(report: Report): Promise<TestedDatabase> {
  const { what, url, workers, stop } = await startCitus(report)
  const workerOf = async (merchant_id: string) => {
    const [place] = await query(url, placeOf, [merchant_id])
    return workers.find(({ address }) => address === place?.nodename)
  }
  return {
    what,
    url,
    hosts: [url],
    primaryUrl: async () => url,
    citus: { workers, workerOf },
    stop,
  }
}

const placeOf = `select nodename from pg_dist_placement join pg_dist_node using (groupid)
  where shardid = get_shard_id_for_distribution_column('payments', $1::text)`

// A server that hangs accepts connections and does not answer.
const answers = (url: string) =>
  Promise.race([
    query(url, 'select 1').then(
      () => true,
      () => false,
    ),
    sleep(answerWithinMs, false, { ref: false }),
  ])
