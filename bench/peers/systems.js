// Each system with all that belongs to it, new for every turn: nothing is left over from the turn before.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { toThisMachine } from '../contenders/gateway.js'
import { nextSeries } from '../contenders/meter.js'
import { startWorker } from '../load/worker.js'
import { loginOf } from '../rivals/pgbench.js'
import { query } from '../rows/database.js'
import { add, bodyInSql, dueSql, literal } from '../rows/deliveries.js'
import { createDataset, fillPayments } from '../rows/dataset.js'
import * as convoy from './convoy.js'
import * as outpost from './outpost.js'
import { lackOf } from './programs.js'
import * as svix from './svix.js'

const connections = 32
const graceMs = 240_000

const others = [outpost, convoy, svix]
export const lacks = () => others.map(({ peer }) => lackOf(peer)).filter(Boolean)

// Who is measured: ours, and those of the others whose programs are found.
export const systems = bench => [
  { id: 'ours', label: '(c) Tollgate', open: (ports, countOf) => openOurs(bench, ports, countOf) },
  ...others
    .filter(({ peer }) => !lackOf(peer))
    .map(module => ({
      id: module.peer.id,
      label: module.peer.label,
      open: ports => openOther(bench, module, ports),
    })),
]

const addressesOf = ports => ports.map((port, n) => `http://127.0.0.1:${port}/ipn/${n}`)
const sumOf = (parts, read) => parts.reduce((sum, part) => sum + read(part), 0)

// Sends, from a separate process, and returns what was accepted.
async function sendAll(peer, target, items, untilMs = graceMs) {
  const worker = startWorker('peers/senderProcess.js')
  try {
    const job = { peer, target, items, connections, untilMs, warmMs: 0, measureMs: 0, graceMs }
    return await worker.run(job)
  } finally {
    worker.stop()
  }
}

// One after the other to all endpoints.
const inTurn = (count, endpoints) =>
  Array.from({ length: count }, (_, at) => ({ endpoint: at % endpoints, n: Math.floor(at / endpoints) }))

// The same password kept as most servers keep it: some drivers refuse fewer iterations than usual.
const usualPassword = url =>
  `set scram_iterations = 4096; alter role current_user password ${literal(loginOf(url).env.PGPASSWORD)}`

async function openOther(bench, { peer, openPeer }, ports) {
  const folder = mkdtempSync(join(bench.folder, `${peer.id}-`))
  const name = `${peer.id}_${nextSeries()}`
  const url = await bench.server.createBare(name)
  await query(url, usualPassword(url))
  const opened = await openPeer(url, addressesOf(ports), folder)
  const { target, brokers, startFront, startWorkers, createEndpoints } = opened
  /** @type {any[][]} */
  let [front, workers] = [[], []]
  const all = () => [...front, ...workers]
  const system = {
    ownMs: () => sumOf(all(), child => child.cpuMs()),
    brokersMs: () => sumOf(brokers, broker => broker.cpuMs()),
    fill: async count =>
      (await sendAll(peer.id, target, inTurn(count, ports.length))).done.map(({ id }) => id),
    send: (items, untilMs) => sendAll(peer.id, target, items, untilMs),
    start: async () => (workers = await startWorkers()),
    kill: () => Promise.all(all().map(child => child.kill())),
    async startAgain() {
      ;[front, workers] = await Promise.all([startFront(), startWorkers()])
    },
    async close() {
      await Promise.all(all().map(child => child.stop()))
      await Promise.all(brokers.map(broker => broker.stop()))
      await query(url.replace(`/${name}?`, '/tollgate?'), `drop database ${name} with (force)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    front = await startFront()
    await createEndpoints()
    return system
  } catch (error) {
    await system.close()
    throw error
  }
}

// `countOf` says how many payments each endpoint's merchant has to cancel; a backlog is written straight into the
// tables, as the status changes that it replaces would have.
async function openOurs(bench, ports, countOf) {
  const dataset = await createDataset(bench, `peers_${nextSeries()}`, ports)
  if (countOf) await fillPayments(dataset, countOf)
  const { merchants, urls } = dataset
  let gateway
  const target = () => ({ merchants, urls, port: gateway.port })
  return {
    ownMs: () => gateway?.cpuMs() ?? 0,
    brokersMs: () => 0,
    async fill(count) {
      await add(dataset.url, dueSql(await bodyInSql(), dataset, { to: count }))
      const rows = await query(dataset.url, `select tx_reference || '-N' || sequence as id from deliveries`)
      return rows.map(({ id }) => id)
    },
    send: (items, untilMs) => sendAll('tollgate', target(), items, untilMs),
    start: async () => (gateway = await bench.startGateway(dataset, toThisMachine)),
    kill: () => gateway.kill(),
    startAgain: async () => (gateway = await bench.startGateway(dataset, toThisMachine)),
    close: () => gateway?.stop(),
  }
}
