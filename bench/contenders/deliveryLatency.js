// How long a committed change takes to reach the merchant.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeter } from './meter.js'
import { quantile, sorted } from '../report/figures.js'

const patienceMs = 15_000
const lookMs = 100

// Runs the changes and waits until the receiver has all that count: from the moment that the commit had
// returned to the first byte, both on the clock of the machine.
/** @type {(bench: any, receiver: any, changing: any, carrier: any, changes: any[], isCounted?: (id: string) => boolean)
 *   => Promise<{ latencies: { atMs: number, ms: number }[], used: any }>} */
export async function timeChanges(bench, receiver, changing, carrier, changes, isCounted = () => true) {
  const meter = createMeter({ gateway: carrier.cpuMs, postgres: bench.server.cpuMs })
  const receiverMs = receiver.cpuMs()
  meter.start()
  const times = (await changing.run(changes)).filter(([id]) => isCounted(id))
  meter.stop()
  const seconds = (times.at(-1)[1].committed - times[0][1].committed) / 1000
  const rate = changes.length / seconds
  const used = meter.complete({ requests: changes.length, rate, cpuMs: receiver.cpuMs() - receiverMs })
  const arrivals = await arrivalsOf(receiver, times.length)
  const latencies = times.map(([id, { committed, atMs }]) => ({ atMs, ms: arrivals.get(id) - committed }))
  return { latencies, used }
}

async function arrivalsOf(receiver, count) {
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(lookMs))
    if ((await receiver.count()).distinct >= count) return receiver.arrivals()
  throw new Error(`Of ${count} notifications only ${(await receiver.count()).distinct} came.`)
}

export function shown(latencies) {
  const ascending = sorted(latencies.map(({ ms }) => ms))
  return {
    p50: quantile(ascending, 0.5),
    p99: quantile(ascending, 0.99),
    worst: ascending.at(-1) ?? Number.NaN,
  }
}
