// One turn of one system, as each section has it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeter } from '../contenders/meter.js'
import { nowMs } from '../load/moment.js'
import { quantile, sorted } from '../report/figures.js'

const patienceMs = 180_000 // until the last has come
const quietMs = 1500 // after the last, for one that comes twice
const lookMs = 20

export async function withSystem(opening, work) {
  const system = await opening
  try {
    return await work(system)
  } finally {
    await system.close()
  }
}

export const meterOf = (bench, system) =>
  createMeter({ gateway: system.ownMs, brokers: system.brokersMs, postgres: bench.server.cpuMs })

// All processes of a system together.
export function completed(meter, figures) {
  const done = meter.complete(figures)
  return { ...done, cpu: done.cpuUs.gateway + done.cpuUs.brokers + done.cpuUs.postgres }
}

// Waits until so many have come, at most so long.
export async function untilCame(receiver, count, forMs = patienceMs) {
  for (const until = nowMs() + forMs; nowMs() < until; await sleep(lookMs))
    if ((await receiver.count()).distinct >= count) return true
  return false
}

// What did not come of what was accepted, and what came more than once.
export async function countAt(receiver, ids, forMs = patienceMs) {
  await untilCame(receiver, ids.length, forMs)
  await sleep(quietMs)
  const { requests, distinct } = await receiver.count()
  const arrivals = await receiver.arrivals()
  return { arrivals, lost: ids.filter(id => !arrivals.has(id)).length, twice: requests - distinct }
}

// From its acceptance, and from when it was sent, to the first byte. What has not come in time counts with the whole
// time that was waited for it.
export function timesOf(done, arrivals, endedAt) {
  const arrivedAt = ({ id }) => arrivals.get(id) ?? endedAt
  const after = sorted(done.map(each => arrivedAt(each) - each.acceptedAt))
  const whole = sorted(done.map(each => arrivedAt(each) - each.cameAt))
  return {
    p50: quantile(after, 0.5),
    p99: quantile(after, 0.99),
    wholeP50: quantile(whole, 0.5),
    wholeP99: quantile(whole, 0.99),
    worst: whole.at(-1),
  }
}
