// How soon a merchant hears of a change.
import { evenly } from '../load/changes.js'
import { shown, timeChanges } from '../contenders/deliveryLatency.js'
import { startOurs } from '../contenders/deliveryRate.js'
import { createTown, fillPayments, paymentOf } from '../rows/town.js'

const endpoints = 64
export const perSecond = 500
export const warmMs = 2000

// `place` has the receiver and the town when the first round begins.
export const hearing = (bench, place, { isWoken, ...named }) => ({
  ...named,
  async run({ measureMs }) {
    const { receiver, town } = place
    const lengthMs = warmMs + measureMs
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

export function latencySection(bench, { rounds, measureMs }) {
  const place = {}
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
      hearing(bench, place, { id: 'woken', label: '(c) woken by its own commits', isWoken: true }),
      hearing(bench, place, { id: 'looking', label: '(c) by looking alone', isWoken: false }),
    ],
    ratios: [],
    limits: [
      { name: 'p99 ms, woken', of: 'woken', by: 'p99', below: 250 },
      { name: 'p99 ms, looking', of: 'looking', by: 'p99', below: 250 },
    ],
    async prepare() {
      await bench.stopGateways()
      Object.assign(place, await openPlace(bench, 'latency'))
    },
  }
}

export async function openPlace(bench, name, version) {
  const receiver = bench.startReceiver()
  return {
    receiver,
    town: await createTown(bench, name, await receiver.open(Array(endpoints).fill('ok')), version),
  }
}
