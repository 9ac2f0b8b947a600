import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonIn } from '../../src/postgres/childProcess.ts'
import type { DataFolder } from '../../src/postgres/dataFolder.ts'
import { launch, type Server, stopProgram } from '../../src/postgres/server.ts'
import { appDatabase, appRole } from '../../src/postgres/session.ts'
import { placeInMemory } from '../support/database/placeInMemory.ts'
import { freePort } from '../support/deploy/nginx.ts'
import { citusPrograms } from './citusBuild.ts'
import type { Cluster, Report } from './kind.ts'
import { createFiles, makeFolders, runStatements, type ServerOptions, superuser } from './postgres.ts'

const settings = {
  shared_preload_libraries: 'citus, pg_stat_statements', // a test counts what the workers run
  max_connections: '300',
  max_prepared_transactions: '300',
  max_worker_processes: '100', // Citus runs one for each database of the tests
  shared_buffers: '128MB',
  'citus.shard_count': '8',
  'citus.recover_2pc_interval': '2s', // the usual minute is longer than tests wait
}
const workerNames = ['worker1', 'worker2']

// The socket by which a test ends and starts workers.
const controlVariable = 'TEST_CITUS_CONTROL'

export type CitusCluster = Cluster & { pid(): number; workers: readonly CitusWorker[] }

export type CitusWorker = {
  name: string
  address: string // its nodename on the coordinator
  pid(): number
  kill(): Promise<void> // SIGKILL of its postmaster, whose sessions end by themselves
  start(): Promise<void> // again, with its files; returns when it is ready
}

type Node = {
  home: DataFolder
  sockets: string // the same after a restart, because the coordinator has stored it
  settings: Record<string, string>
  server: Server
  isDown: boolean // on purpose
}

// A coordinator on a TCP port of loopback, and workers that only this machine's user reaches, by their sockets. Citus is in
// template1 of each, so that a database has it which a role creates that is no superuser; the workers need a database of the
// same name. The tables stay where they are until Tollgate distributes them.
export async function startCitus(
  report: Report,
  { place = placeInMemory(), settings: given = {} }: ServerOptions = {},
): Promise<CitusCluster> {
  const bin = await citusPrograms(report)
  const dataDir = mkdtempSync(join(place, 'tollgate-citus-'))
  chmodSync(dataDir, 0o755)
  const nodes: Node[] = []
  let onEnd!: (why: string) => void
  const ended = new Promise<string>(resolve => (onEnd = resolve))
  let closeControl: (() => void) | undefined
  const stop = async () => {
    closeControl?.()
    for (const node of nodes) node.isDown = true
    for (const { server } of nodes) await stopProgram(server.program, 0)
    for (const { server } of nodes) await server.program.cleanedUp
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    report(`creates a coordinator and ${workerNames.length} workers`)
    const addNode = async (name: string, more: Record<string, string>) => {
      const node = await createNode(join(dataDir, name), bin, { ...given, ...more })
      nodes.push(node)
      watchEnd(node, onEnd)
      return node
    }
    const port = await freePort()
    const coordinator = await addNode('coordinator', {
      listen_addresses: '127.0.0.1',
      port: String(port),
    })
    const workers: [string, Node][] = []
    for (const name of workerNames) workers.push([name, await addNode(name, {})])
    const { password } = coordinator.home
    const role = `create role ${appRole} login createdb createrole password '${password}' in role pg_checkpoint`
    for (const node of nodes) await runStatements(socketUrl(node, 'postgres'), [role])
    for (const node of nodes)
      await runStatements(socketUrl(node, 'template1'), [
        'create extension citus',
        'create extension pg_stat_statements',
      ])
    await runStatements(socketUrl(coordinator, 'template1'), [
      `select citus_set_coordinator_host('${coordinator.sockets}', ${portOf(coordinator)})`,
      ...workers.map(([, node]) => `select citus_add_node('${node.sockets}', ${portOf(node)})`),
    ])
    for (const node of nodes) await endSessions(node)
    for (const node of nodes)
      await runStatements(socketUrl(node, 'postgres'), [`create database ${appDatabase} owner ${appRole}`])
    const controlled = workers.map(([name, node]) => controlOf(name, node, onEnd))
    const control = join(dataDir, 'control')
    closeControl = await listenForOrders(control, controlled)
    return {
      url: `postgres://${appRole}:${password}@127.0.0.1:${port}/${appDatabase}?sslmode=disable`,
      what: `Citus on 127.0.0.1:${port} with ${workers.length} workers`,
      env: { [controlVariable]: control },
      pid: () => coordinator.server.program.pid ?? 0,
      workers: controlled,
      ended,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const portOf = (node: Node) => node.settings.port

async function createNode(dataDir: string, bin: string, more: Record<string, string>): Promise<Node> {
  mkdirSync(dataDir)
  const home = await makeFolders(dataDir, bin)
  await createFiles(home)
  const sockets = join(dataDir, 'sockets')
  mkdirSync(sockets, { mode: 0o700 })
  if (home.runAs) chownSync(sockets, home.runAs.uid, home.runAs.gid)
  const own = { listen_addresses: '', port: '5432', ...settings, ...more, unix_socket_directories: sockets }
  const server = await launch(home, undefined, { settings: own })
  if (!server) throw new Error(`another server uses ${home.cluster}`)
  return { home, sockets, settings: own, server, isDown: false }
}

const watchEnd = (node: Node, onEnd: (why: string) => void) =>
  void node.server.program.ended.then(
    how => node.isDown || onEnd(reasonIn(node.server.program.output()) ?? how),
  )

const controlOf = (name: string, node: Node, onEnd: (why: string) => void): CitusWorker => ({
  name,
  address: node.sockets,
  pid: () => node.server.program.pid ?? 0,
  async kill() {
    node.isDown = true
    node.server.program.signal('SIGKILL')
    await node.server.program.ended
  },
  async start() {
    if (!node.isDown) return
    let server: Server | undefined
    // Sessions of the killed server use its memory until they have noticed its end.
    while (!(server = await launch(node.home, undefined, { settings: node.settings }))) await sleep(50)
    Object.assign(node, { server, isDown: false })
    watchEnd(node, onEnd)
  },
})

// Tests run in another process, which orders the end of a worker and its start by a socket: "kill worker1". The connection
// is closed when that is done.
async function listenForOrders(path: string, workers: readonly CitusWorker[]) {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', order => {
      const [what, name] = order.toString().trim().split(' ')
      const worker = workers.find(one => one.name === name)
      const done = what === 'kill' ? worker?.kill() : what === 'start' ? worker?.start() : undefined
      if (done) void done.then(() => socket.end('done'))
      else socket.end(`There is no order "${what} ${name}".`)
    })
  })
  await once(server.listen(path), 'listening')
  return () => void server.close()
}

const socketUrl = (node: Node, database: string) =>
  `postgres://${superuser}@/${database}?host=${encodeURIComponent(node.sockets)}&port=${portOf(node)}`

// A database cannot be copied while its maintenance daemon is connected, which does not come back to one that refuses
// connections.
const endSessions = (node: Node) =>
  runStatements(socketUrl(node, 'postgres'), [
    'alter database template1 allow_connections false',
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'template1'`,
  ])
