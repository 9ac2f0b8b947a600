// Customers who pay, as a contender. Every round is counted in the database, at the provider and at the shops: a fast
// payment that is lost, taken twice, or notified never or twice is no result.
import { createMeter, nextSeries } from './meter.js'
import { emptyAll, reset, written } from '../rows/database.js'
import { countSettled, mustBeOnce } from '../rows/settled.js'

const kept = ['payments', 'paid', 'attempts', 'notifications', 'acknowledged']
const once = [...kept, 'orders', 'charged', 'told']
const never = ['sentAgain', 'toldTwice', 'again']
const question = { warmMs: 0, measureMs: 0 }

export function openShops(customers, { callers, urls }) {
  return {
    shops: callers.map((caller, at) => ({ caller, ipn_url: urls[at] })),
    countTold: () => customers.run({ asked: 'count', ...question }),
  }
}

export const openPorts = (customers, count) => customers.run({ asked: 'open', count, ...question })

/** @typedef {(place: any) => Promise<() => Promise<void>>} Meanwhile */

// `place` has, when the first round begins, a gateway, its dataset, the provider and the customers.
// `meanwhile` runs at the same time, and returns the function that undoes it before anything is counted.
/** @type {(bench: any, place: any, how: { id: string, label: string, count: number, meanwhile?: Meanwhile }) => any} */
export function paying(bench, place, { id, label, count, meanwhile = async () => async () => {} }) {
  const total = { payments: 0, asks: 0, walBytes: 0, transactions: 0 }
  return {
    id,
    label,
    gateway: place.gateway,
    connections: count,
    total,
    async run(job) {
      const { gateway, dataset, provider, customers } = place
      await emptyAll(dataset)
      await reset(dataset, { emptied: false })
      await provider.forget()
      const undo = await meanwhile(place)
      const sources = { gateway: gateway.cpuMs, postgres: bench.server.cpuMs, provider: provider.cpuMs }
      const meter = createMeter(sources, bench.server.partsMs)
      const { shops, countTold } = openShops(customers, dataset)
      const whole = { ...job, port: gateway.port, shops, connections: count, series: `P${nextSeries()}` }
      const before = await written(dataset.url)
      const figures = await customers.run(whole, meter.start, meter.stop).finally(undo)
      const settled = await countSettled(dataset, kept, figures.begun)
      const after = await written(dataset.url)
      const counted = { ...settled, ...(await provider.count()), ...(await countTold()) }
      await mustBeOnce(dataset, 'begun', figures.begun, { counted, once, never })
      total.payments += figures.begun
      total.asks += counted.asks
      total.walBytes += after.walBytes - before.walBytes
      total.transactions += after.transactions - before.transactions
      return meter.complete(figures)
    },
  }
}
