// Twice as many requests as the gateway can take: what it accepts, what it refuses, and what customers see meanwhile. And one
// merchant who sends too much, beside another who does not. Arrivals do not wait for answers, as those of many shops do not.
import { setTimeout as sleep } from 'node:timers/promises'
import { behindProxy, toThisMachine } from '../contenders/gateway.js'
import { createMeter, nextSeries } from '../contenders/meter.js'
import { emptyAll, fill } from '../rows/database.js'
import { createDataset } from '../rows/dataset.js'
import { once } from './once.js'

const times = 2 // of the measured capacity
const calm = 0.5 // of the capacity: a busy day
const steady = 50 // requests a second of the merchant who does not flood
const customers = 8
const pauseMs = 300 // of a customer before the next one
const usualStored = 20_000
const capacityConnections = 512
const recoveredShare = 0.9 // of the capacity
const windowMs = 500
const longestRecoveryMs = 15_000

export function overloadSections(bench, { rounds, measureMs, warmMs, capacityMs, stored = usualStored }) {
  const place = /** @type {any} */ ({ stored }) // the rest is known when it is prepared
  const start = once(() => openPlace(bench, place, capacityMs))
  const job = { warmMs, measureMs }
  return [
    {
      title: 'Twice the capacity',
      table: 'overload',
      about: [
        `Initiations that arrive at half and at twice the rate of ${capacityConnections} connections in turn, whether or not earlier ones are`,
        `answered; ${customers} customers open pages and submit their forms meanwhile. Accepted and refused (503 or 429) are a`,
        'second; a failed request got no answer or another one. Recovered: from the last arrival until the rate of these',
        `connections is ${recoveredShare} of what it was.`,
      ],
      rounds,
      job,
      prepare: start,
      contenders: [
        { id: 'calm', label: '(c) at half the capacity', run: own => runLoad(bench, place, own, calm) },
        { id: 'twice', label: '(c) at twice the capacity', run: own => runLoad(bench, place, own, times) },
      ],
      ratios: [],
      limits: [
        { name: 'accepted, p99 ms', of: 'twice', by: 'p99', below: 1000 },
        { name: 'refused, p99 ms', of: 'twice', by: 'shedP99', below: 1000 },
        { name: 'failed', of: 'twice', by: 'failed', below: 1, always: true },
        { name: 'page of a customer, p99 ms', of: 'twice', by: 'pageP99', below: 1000 },
        { name: 'form of a customer, p99 ms', of: 'twice', by: 'payP99', below: 1000 },
        { name: 'customers refused', of: 'twice', by: 'customersRefused', below: 1, always: true },
        { name: 'most memory, MB', of: 'twice', by: 'peakMb', below: 400, always: true },
        { name: 'full rate again, ms', of: 'twice', by: 'recoveredMs', below: 10_000, always: true },
      ],
      facts: () => ({ notes: [`The capacity was ${Math.round(place.capacity)} a second.`] }),
    },
    {
      title: 'One merchant floods',
      table: 'flood',
      about: [
        `One merchant sends ${steady} initiations a second, while another, without a rate limit, sends a half and twice of the`,
        'capacity. The figures are those of the first; refused and failed are its own, too.',
      ],
      rounds,
      job,
      prepare: start,
      contenders: [
        { id: 'calm', label: '(c) the other is busy', run: own => runFlood(bench, place, own, calm) },
        { id: 'flood', label: '(c) the other floods', run: own => runFlood(bench, place, own, times) },
      ],
      ratios: [{ name: 'p99 flood/busy', of: 'flood', to: 'calm', by: 'p99', atMost: 2 }],
      limits: [
        { name: 'refused, of a hundred', of: 'flood', by: 'refusedShare', below: 1 },
        { name: 'failed', of: 'flood', by: 'failed', below: 1, always: true },
      ],
    },
  ]
}

async function openPlace(bench, place, capacityMs) {
  await bench.stopGateways()
  const dataset = await createDataset(bench, 'overload', [1, 2])
  const gateway = await bench.startGateway(dataset, { ...behindProxy, ...toThisMachine })
  const [load, visits] = [bench.startOpenLoop(), bench.startVisits()]
  Object.assign(place, { dataset, gateway, load, visits })
  await emptyRows(place)
  await closedLoop(bench, place, capacityMs) // a new process is slow until its code is compiled
  place.capacity = (await closedLoop(bench, place, capacityMs)).rate
}

async function emptyRows(place) {
  const { dataset } = place
  await emptyAll(dataset)
  await fill({ ...dataset, merchant: dataset.callers[0] }, place.stored, `'awaiting_payment'`)
  place.firstPayment = 1
}

// As many as they can, each connection after the answer to its last one.
function closedLoop(bench, { gateway, dataset }, measureMs) {
  const job = { kind: 'initiation', port: gateway.port, merchant: dataset.callers[0] }
  const counts = { connections: capacityConnections, warmMs: 0, measureMs }
  return bench.load.run({ ...job, ...counts, series: `C${nextSeries()}` }, ignore, ignore)
}

async function runLoad(bench, place, job, share) {
  await emptyRows(place)
  const { gateway, dataset, load, visits } = place
  const merchant = dataset.callers[0]
  const streams = [{ merchant, series: `O${nextSeries()}`, perSecond: share * place.capacity }]
  const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
  const sent = load.run({ ...job, port: gateway.port, streams }, meter.start, meter.stop)
  const { firstPayment } = place
  const { port } = gateway
  const visited = visits.run({ ...job, port, merchant, customers, pauseMs, firstPayment }, ignore, ignore)
  const [
    {
      streams: [figures],
      cpuMs,
    },
    seen,
  ] = await Promise.all([sent, visited])
  place.firstPayment = seen.next
  const requests = (figures.accepted * job.measureMs) / 1000
  const { pageP99, payP99, refused: customersRefused } = seen
  return {
    ...meter.complete({ ...figures, requests, rate: figures.accepted, cpuMs }),
    ...figures,
    pageP99,
    payP99,
    customersRefused,
    recoveredMs: await untilRecovered(bench, place),
    peakMb: gateway.peakMemoryMb(),
  }
}

async function untilRecovered(bench, place) {
  const began = performance.now()
  while (performance.now() - began < longestRecoveryMs) {
    const windowBegan = performance.now()
    const { rate } = await closedLoop(bench, place, windowMs).catch(() => ({ rate: 0 }))
    if (rate >= recoveredShare * place.capacity) return windowBegan - began
    await sleep(1)
  }
  return performance.now() - began
}

async function runFlood(bench, place, job, share) {
  await emptyRows(place)
  const { gateway, dataset, load } = place
  const [flooding, quiet] = dataset.callers
  const streams = [
    { merchant: quiet, series: `Q${nextSeries()}`, perSecond: steady },
    { merchant: flooding, series: `F${nextSeries()}`, perSecond: share * place.capacity },
  ]
  const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
  const {
    streams: [figures],
    cpuMs,
  } = await load.run({ ...job, port: gateway.port, streams }, meter.start, meter.stop)
  const requests = (figures.accepted * job.measureMs) / 1000
  return {
    ...meter.complete({ ...figures, requests, rate: figures.accepted, cpuMs }),
    ...figures,
    refusedShare: (100 * figures.shed) / figures.offered,
  }
}

function ignore() {}
