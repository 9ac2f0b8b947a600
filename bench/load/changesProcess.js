// Changes payments, in a separate process and at a steady pace: a node that cancels payments, delivers
// and is woken by its own commits, as the gateway is; one that cancels payments, delivers nothing and wakes other nodes;
// or a writer of notifications that wakes no node. Reports when each change was committed.
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from './moment.js'
import { versionAt } from '../version.js'

const connections = 8
const body = JSON.stringify({ status: 'cancelled', padding: '.'.repeat(560) })

process.once('message', (/** @type {any} */ job) => void begin(job))

async function begin({ folder, by, env, url, changes }) {
  try {
    const version = versionAt(folder)
    const { change, close } = await ways[by](version, { env, url })
    process.once('message', () => void close().then(() => process.exit()))
    process.send?.({ times: await makeAll(changes, change) })
  } catch (error) {
    process.send?.({ failed: [error.message, error.cause?.message].filter(Boolean).join(' Because of: ') })
  }
}
process.on('disconnect', () => process.exit()) // the parent is gone

// Each at its time, or as soon as there is a connection for it: on a machine that cannot keep the pace the pace falls.
async function makeAll(changes, change) {
  const began = nowMs()
  const times = []
  let next = 0
  const work = async () => {
    while (next < changes.length) {
      const { atMs, ...payment } = changes[next++]
      await sleep(began + atMs - nowMs())
      await change(payment)
      times.push([payment.id, { committed: nowMs(), atMs }])
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return times
}

const clock = () => new Date()

async function delivering(version, { env }) {
  const [{ readConfig }, { openDatabase }, { openDeliveries }, { createMetrics }, { createLog }, { cancel }] =
    await version.load(
      'config',
      'start/database',
      'start/deliveries',
      'observe/metrics',
      'observe/log',
      'actions/payments/cancel',
    )
  const [{ createDecisions }] = await version.load('actions/payments/decisions')
  const config = readConfig(env)
  const records = await openDatabase(config, 'gateway')
  const localWorkers = {}
  const decisions = createDecisions(records.db, localWorkers)
  const dispatch = openDeliveries(config, records, {
    localWorkers,
    clock,
    metrics: createMetrics(),
    log: createLog('silent'),
  })
  return {
    async change(payment) {
      await cancel({ decisions }, payment, clock())
    },
    async close() {
      await dispatch.stop()
      await records.close()
    },
  }
}

async function hinting(version, { env }) {
  const [{ readConfig }, { openDatabase }, { cancel }, { createDecisions }, { startNode }] =
    await version.load(
      'config',
      'start/database',
      'actions/payments/cancel',
      'actions/payments/decisions',
      'workers/node',
    )
  const records = await openDatabase(readConfig(env), 'gateway')
  const decisions = createDecisions(records.db, {})
  const watch = { deaf() {}, gone() {} }
  const node = startNode({ db: records.db, clock, onWakeUp() {}, watch })
  return {
    async change(payment) {
      await cancel({ decisions }, payment, clock())
      node.sendWakeUp('senders')
    },
    async close() {
      await node.stop()
      await records.close()
    },
  }
}

async function writing(version, { url }) {
  const [{ openDb }, { addNotification }] = await version.load(
    'store/db',
    'store/notifications/notifications',
  )
  const db = openDb(url, connections, 'bench')
  return {
    change: ({ merchant_id, tx_reference, address }) =>
      addNotification(
        db,
        { merchant_id, tx_reference, mode: 'test', status: 'cancelled', body, created_at: new Date() },
        { url: address, lane: new URL(address).origin, style: 'post' },
      ),
    close: () => db.end(),
  }
}

const ways = { own: delivering, node: hinting, looking: writing }
