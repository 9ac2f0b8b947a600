// This version beside a former one, each on a database that it migrated itself: what was gained elsewhere must not have
// been paid for here.
import { fillAll, ours, refillTo, smallTaste, unknownSize } from '../contenders/backlog.js'
import { behindProxy } from '../contenders/gateway.js'
import { through } from '../contenders/requests.js'
import { fill } from '../rows/database.js'
import { bodyInSql } from '../rows/deliveries.js'
import { cancelFormBeside } from './cancelForm.js'
import { once } from './once.js'
import { hearing, openPlace, busy, usualWarmMs as hearingWarmMs } from './latency.js'
import { wholePaymentBeside } from './wholePayment.js'
import { createDataset } from '../rows/dataset.js'
import { thisVersion } from '../version.js'

const lengths = {
  whole: {
    requests: { rounds: 10, measureMs: 2000, warmUpMs: 4000 },
    pay: { rounds: 5, measureMs: 5000 },
    cancel: { rounds: 5, measureMs: 3000 },
    backlog: { rounds: 7, measureMs: 5000 },
    latency: { rounds: 7, measureMs: 5000 },
  },
  quick: {
    requests: { rounds: 4, measureMs: 700, warmUpMs: 2000 },
    pay: { rounds: 2, measureMs: 3000 },
    cancel: { rounds: 2, measureMs: 2000 },
    backlog: { rounds: 2, measureMs: 2000 },
    latency: { rounds: 2, measureMs: 2000 },
  },
  smallest: {
    requests: { rounds: 1, measureMs: 700, warmUpMs: 0, stored: 2000 },
    pay: { rounds: 1, measureMs: 1500, warmUpMs: 0, crowd: 4 },
    cancel: { rounds: 1, measureMs: 700, warmUpMs: 0, count: 8 },
    backlog: { rounds: 1, measureMs: 700, warmMs: 200, taste: smallTaste },
    latency: { rounds: 1, measureMs: 500, warmMs: 200 },
  },
}
const warmMs = 400
const usualBacklogWarmMs = 1500
const connections = 256
const viewers = 64
const usualStored = 20_000
const endpoints = 64

// Two that do the same lie to either side of 1, so a twentieth is as precise as a few rounds can be.
const asMany = { name: 'new/former, rate', of: 'new', to: 'former', by: 'rate', atLeast: 0.95 }
const asSoon = { name: 'new/former, p50', of: 'new', to: 'former', by: 'p50', atMost: 1.05 }

export function besideFormer(bench, size) {
  const length = lengths[size]
  return [
    ...requestSections(bench, length.requests),
    wholePaymentBeside(bench, versions(bench), length.pay, beside('Whole payment')),
    cancelFormBeside(bench, versions(bench), length.cancel, beside('Cancel form to notification')),
    backlogBeside(bench, length.backlog),
    latencyBeside(bench, length.latency),
  ]
}

const anything = () => /** @type {any} */ ({}) // known when it is prepared
const versions = bench => [
  { id: 'former', label: 'the former version', version: bench.former },
  { id: 'new', label: '(c) as it ships', version: thisVersion },
]
const beside = title => `${title}, beside the former version`

function requestSections(bench, { rounds, measureMs, warmUpMs, stored = usualStored }) {
  const both = versions(bench).map(each => ({ ...each, database: anything(), gateway: anything() }))
  const start = once(async () => {
    await bench.stopGateways()
    for (const { id, version, database, gateway } of both) {
      Object.assign(database, await bench.server.create(`requests_${id}`, version))
      Object.assign(gateway, await bench.startGateway(database, behindProxy)) // their memory is not that of (c)
    }
  })
  const filled = status => async () => {
    await start()
    for (const { database } of both) await fill(database, stored, status)
  }
  const section = (title, kind, emptied, prepare, count = connections) => ({
    title: beside(title),
    rounds,
    warmUpMs,
    prepare,
    job: { kind, stored, warmMs, measureMs },
    contenders: both.map(({ id, label, gateway, database }) =>
      through(bench, gateway, database, { id, label, count, emptied }),
    ),
    ratios: [asMany, { name: 'new/former, CPU', of: 'new', to: 'former', by: 'cpu' }],
  })
  return [
    section('Initiation', 'initiation', true, start),
    section('Status check', 'status', false, filled()),
    section('Checkout page', 'page', false, filled(`'awaiting_payment'`), viewers),
  ]
}

function backlogBeside(bench, { rounds, measureMs, warmMs: backlogWarmMs = usualBacklogWarmMs, taste }) {
  const contenders = []
  const job = { warmMs: backlogWarmMs, measureMs }
  return {
    title: beside('Delivery of a backlog'),
    table: 'backlog',
    rounds,
    job,
    contenders,
    count: 2,
    ratios: [asMany, { name: 'new/former, CPU', of: 'new', to: 'former', by: 'cpu' }],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const [body, size] = [await bodyInSql(), unknownSize()]
      const all = []
      for (const { id, label, version } of versions(bench)) {
        const dataset = await createDataset(bench, `backlog_${id}`, ports, version)
        all.push(ours(bench, receiver, dataset, body, { id, label, refilling: refillTo(size) }))
      }
      await fillAll(all, size, rounds, { ...job, taste })
      contenders.push(...all.map(({ contender }) => contender))
    },
  }
}

function latencyBeside(bench, { rounds, measureMs, warmMs: hearingMs = hearingWarmMs }) {
  const both = versions(bench).map(each => ({ ...each, place: {} }))
  return {
    title: beside(`Delivery, ${busy} changes a second`),
    table: 'latency',
    about: [
      'From the return of the commit to the first byte at the merchant, of 64; woken by its own commits.',
    ],
    rounds,
    job: { warmMs: hearingMs, measureMs },
    contenders: both.map(({ id, label, place }) =>
      hearing(bench, place, { id, label, perSecond: busy, by: 'own' }),
    ),
    ratios: [asSoon, { name: 'new/former, p99', of: 'new', to: 'former', by: 'p99' }],
    async prepare() {
      await bench.stopGateways()
      for (const { id, version, place } of both)
        Object.assign(place, await openPlace(bench, `latency_${id}`, version))
    },
  }
}
