// How soon a merchant receives the notification of a change.
import { evenly } from '../load/changes.js'
import { shown, timeChanges } from '../contenders/deliveryLatency.js'
import { startOurs } from '../contenders/deliveryRate.js'
import { createDataset, fillPayments, paymentOf } from '../rows/dataset.js'

const endpoints = 64
export const busy = 500 // changes a second
const calm = 100
export const usualWarmMs = 2000

// `place` has the receiver and the dataset when the first round begins. The changes are committed by the delivering node itself,
// by another node that wakes it, or by another that does not.
export const hearing = (bench, place, { by, perSecond, ...named }) => ({
  ...named,
  async run({ warmMs, measureMs }) {
    const { receiver, dataset } = place
    const lengthMs = warmMs + measureMs
    await fillPayments(dataset, () => Math.ceil((perSecond * lengthMs) / 1000 / endpoints))
    await receiver.forget()
    const all = [...dataset.merchants.keys()]
    const changes = evenly(perSecond, lengthMs, all, (merchant, n) => paymentOf(dataset, merchant, n))
    const changing = bench.startChanging(dataset, by)
    const carrier = by === 'own' ? changing : await startOurs(bench, dataset)
    try {
      const { latencies, used } = await timeChanges(bench, receiver, changing, carrier, changes)
      return { ...used, ...shown(latencies.filter(({ atMs }) => atMs >= warmMs)) }
    } finally {
      await changing.stop()
      await carrier.stop()
    }
  },
})

export const latencySections = (bench, length) => [
  { ...latencySection(bench, length, busy, 'latency'), limits: limits(250, 250, 250) },
  { ...latencySection(bench, length, calm, 'latency_calm'), limits: limits(250, 50, 250) },
]

function latencySection(bench, { rounds, measureMs, warmMs = usualWarmMs }, perSecond, name) {
  const place = {}
  const contender = (by, label) => hearing(bench, place, { id: by, label, perSecond, by })
  return {
    title: `Delivery, ${perSecond} changes a second`,
    table: 'latency',
    about: [
      'From the return of the commit to the first byte at the merchant, of 64. By its own commits: the process that',
      'delivers also cancels payments. By those of another node: that one cancels them, delivers nothing, and gives the',
      'hint that nodes give each other. By looking alone: another process writes notifications and gives no hint.',
    ],
    rounds,
    job: { warmMs, measureMs },
    contenders: [
      contender('own', '(c) woken by its own commits'),
      contender('node', '(c) by those of another node'),
      contender('looking', '(c) by looking alone'),
    ],
    ratios: [],
    async prepare() {
      await bench.stopGateways()
      Object.assign(place, await openPlace(bench, name))
    },
  }
}

const limits = (own, node, looking) => [
  { name: 'p99 ms, woken', of: 'own', by: 'p99', below: own },
  { name: 'p99 ms, by another node', of: 'node', by: 'p99', below: node },
  { name: 'p99 ms, looking', of: 'looking', by: 'p99', below: looking },
]

export async function openPlace(bench, name, version) {
  const receiver = bench.startReceiver()
  return {
    receiver,
    dataset: await createDataset(bench, name, await receiver.open(Array(endpoints).fill('ok')), version),
  }
}
