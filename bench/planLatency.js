// How soon a merchant hears of a change.
import { evenly } from './changing.js'
import { shown, timeChanges } from './deliveryLatency.js'
import { startOurs } from './deliveryRate.js'
import { createTown, fillPayments, paymentOf } from './town.js'

const endpoints = 64
const perSecond = 500
const warmMs = 2000

export function latencySection(bench, { rounds, measureMs }) {
  const place = {}
  const lengthMs = warmMs + measureMs
  const contender = (id, label, isWoken) => ({
    id,
    label,
    async run() {
      const { receiver, town } = place
      await fillPayments(town, () => Math.ceil((perSecond * lengthMs) / 1000 / endpoints))
      await receiver.forget()
      const all = [...town.merchants.keys()]
      const changes = evenly(perSecond, lengthMs, all, (merchant, n) => paymentOf(town, merchant, n))
      const changing = bench.startChanging(town, isWoken)
      const carrier = isWoken ? changing : await startOurs(bench, town)
      try {
        const { latencies, used } = await timeChanges(bench, receiver, changing, carrier, changes)
        return { ...used, ...shown(latencies.filter(({ atMs }) => atMs >= warmMs)) }
      } finally {
        await changing.stop()
        await carrier.stop()
      }
    },
  })
  return {
    title: `Delivery, ${perSecond} changes a second`,
    table: 'latency',
    about: [
      'From the return of the commit to the first byte at the merchant, of 64. Woken: the process that delivers also',
      'cancels payments, and its own commits wake it. By looking alone: another process commits the notifications.',
    ],
    rounds,
    job: { warmMs, measureMs },
    contenders: [
      contender('woken', '(c) woken by its own commits', true),
      contender('looking', '(c) by looking alone', false),
    ],
    ratios: [],
    limits: [
      { name: 'p99 ms, woken', of: 'woken', by: 'p99', below: 250 },
      { name: 'p99 ms, looking', of: 'looking', by: 'p99', below: 250 },
    ],
    async prepare() {
      await bench.stopGateways()
      place.receiver = bench.startReceiver()
      place.town = await createTown(bench, 'latency', await place.receiver.open(Array(endpoints).fill('ok')))
    },
  }
}
