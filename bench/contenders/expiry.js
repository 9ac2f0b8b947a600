// Workers that expire payments, as a contender.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createMeter } from './meter.js'
import { query } from '../rows/database.js'
import { nodeEnv } from './gateway.js'
import { cpuMs } from './usage.js'
import { fillPayments } from '../rows/dataset.js'

const usualMostPerSecond = 12_000 // when more are ended, the round is shorter
const startMs = 1000
const lookMs = 100
const patienceMs = 30_000 // until the first one has ended

export async function startExpirer({ url, version: { folder } }) {
  const child = fork(fileURLToPath(new URL('./expiryProcess.js', import.meta.url)))
  const ended = once(child, 'exit')
  child.send({ folder, env: nodeEnv(url) })
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`expirer.js ended with ${code}.`))),
  ])
  return {
    cpuMs: () => cpuMs(child.pid),
    async stop() {
      if (child.connected) child.send('stop')
      await ended
    },
  }
}

// `start` begins the work of one node or of several. Payments of many merchants fall due in turns.
export const expiring = (bench, place, { start, isTold, ...named }) => ({
  ...named,
  async run({ warmMs, measureMs, mostPerSecond = usualMostPerSecond }) {
    const { dataset } = place
    const each = Math.ceil((mostPerSecond * (startMs + warmMs + measureMs)) / 1000 / dataset.merchants.length)
    const expires_at = `now() - interval '1 day' + (n % 1000000) * interval '1 millisecond'`
    await fillPayments(dataset, () => each, { expires_at, ...(isTold ? {} : { ipn_url: 'null' }) })
    const nodes = await start(dataset)
    try {
      return await measure(bench, dataset, nodes, {
        count: each * dataset.merchants.length,
        warmMs,
        measureMs,
      })
    } finally {
      await Promise.all(nodes.map(node => node.stop()))
    }
  },
})

async function measure(bench, { url }, nodes, { count, warmMs, measureMs }) {
  const nodesMs = () => nodes.reduce((sum, node) => sum + node.cpuMs(), 0)
  const meter = createMeter({ gateway: nodesMs, postgres: bench.server.cpuMs })
  await firstOne(url, count)
  await sleep(warmMs)
  meter.start()
  const first = await look(url)
  let last = first
  while (last.waiting > 0 && last.at - first.at < measureMs) {
    await sleep(lookMs)
    last = await look(url)
  }
  meter.stop()
  const requests = first.waiting - last.waiting
  return meter.complete({ requests, rate: (requests * 1000) / (last.at - first.at), cpuMs: 0 })
}

async function firstOne(url, all) {
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(lookMs))
    if ((await look(url)).waiting < all) return
  throw new Error('No payment was ended.')
}

async function look(url) {
  const [{ waiting }] = await query(
    url,
    `select count(*)::int as waiting from payments where status = 'awaiting_payment'`,
  )
  return { waiting, at: performance.now() }
}
