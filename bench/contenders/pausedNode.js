// One round with a node that may be paused: the requests, their outcomes and times.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeter, nextSeries } from './meter.js'
import { countAll } from '../rows/counted.js'
import { query } from '../rows/database.js'
import { quantile, sorted } from '../report/figures.js'
import { pauseDuring } from './pausing.js'

const connections = 32 // of the shops at each node
const otherPerSecond = 20
const graceMs = 120_000
const patienceMs = 60_000 // until the last notification has come: a lease has to run out, when its holder forgot it
const lookMs = 100

// With a seed, the other node is paused.
export async function runRound(bench, place, measureMs, seed) {
  const { receiver, dataset, stays, other, load, shops, perSecond } = place
  await query(dataset.url, 'truncate payments, events, notifications, deliveries, tries, messages cascade')
  await query(dataset.url, 'checkpoint')
  await receiver.forget()
  const job = { measureMs, warmMs: 0, graceMs, connections }
  const meter = createMeter({ gateway: stays.cpuMs, postgres: bench.server.cpuMs })
  meter.start()
  const work = Promise.all([
    load[0].run({ ...job, port: stays.port, shops: shops.ours, perSecond, series: `S${nextSeries()}` }),
    load[1].run({
      ...job,
      port: other.port,
      shops: shops.others,
      perSecond: otherPerSecond,
      series: `O${nextSeries()}`,
    }),
  ])
  const { done, stops } = seed === undefined ? { done: await work } : await pauseDuring(other, seed, work)
  meter.stop()
  const [ours, theirs] = done
  const all = done.flat()
  const arrivals = await arrivalsOf(receiver, all)
  const requests = ours.length
  const used = meter.complete({ requests, rate: (requests * 1000) / measureMs, cpuMs: 0 })
  const counted = await countAll(place, all, arrivals)
  const refusals = { refused: countRefused(ours), refusedThere: countRefused(theirs) }
  return { stops, figures: { ...used, ...timesOf(ours, arrivals), ...counted, ...refusals } }
}

const countRefused = payments => payments.filter(({ refused }) => refused).length

// All that were acknowledged, or as many as come in time.
async function arrivalsOf(receiver, payments) {
  const ids = payments.filter(({ id }) => id).map(({ id }) => id)
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(lookMs)) {
    const arrivals = await receiver.arrivals()
    if (ids.every(id => arrivals.has(id))) return arrivals
  }
  return receiver.arrivals()
}

function timesOf(payments, arrivals) {
  const done = payments.filter(({ id }) => id)
  const answers = sorted(done.flatMap(({ initiatedMs, cancelledMs }) => [initiatedMs, cancelledMs]))
  const told = sorted(
    done.filter(({ id }) => arrivals.has(id)).map(({ id, cancelAt }) => arrivals.get(id) - cancelAt),
  )
  return {
    p50: quantile(answers, 0.5),
    p99: quantile(answers, 0.99),
    toldP50: quantile(told, 0.5),
    toldP99: quantile(told, 0.99),
    toldWorst: told.at(-1),
  }
}
