// One merchant whose payments grow, step by step: what each kind of work costs at each size. `npm run bench -- --growth`.
import { claimTimes } from '../contenders/claimTimes.js'
import { delivering, startOurs } from '../contenders/deliveryRate.js'
import { createMeter, nextSeries } from '../contenders/meter.js'
import { median } from '../report/figures.js'
import { whole } from '../report/tables.js'
import { query, written } from '../rows/database.js'
import { createDataset } from '../rows/dataset.js'
import { add, bodyInSql, dueSql, leftSql } from '../rows/deliveries.js'
import { grow, sizes } from '../rows/grown.js'
import { askPage, openSessions, placesIn } from './dashboard.js'

const connections = 64
const endpoints = 8
const dueFrom = 900_000_000 // far from the numbers of payments
const duePerSecond = 6000 // at most
const dayMs = 86_400_000
const spanDays = 35 // five million payments, half a second apart, and some room
const paidEvery = 10 // numbers from 1: a page of a payment that has failed is answered with 410
const turnRequests = 5 // of one page

const lists = ['list', 'second', 'failed', 'payment']
const searches = ['invoice', 'prefix', 'reference', 'phone', 'email', 'provider', 'amount', 'name']

/** @type {[string, string, { atLeast?: number, atMost?: number }][]} */
const flat = [
  ['initiation, rate', 'rate', { atLeast: 0.8 }],
  ['initiation, WAL bytes', 'walBytes', { atMost: 1.2 }],
  ['status check, rate', 'statusRate', { atLeast: 0.8 }],
  ['checkout page, rate', 'pageRate', { atLeast: 0.8 }],
  ['claim of due deliveries, ms', 'claimMs', { atMost: 1.2 }],
  ['delivery, rate', 'deliveryRate', { atLeast: 0.8 }],
  ['lists, ms', 'listMs', { atMost: 1.2 }],
  ['searches, ms', 'searchMs', { atMost: 1.2 }],
  ['bytes of rows for each payment', 'rowBytes', { atMost: 1.2 }],
  ['bytes of indexes for each payment', 'indexBytes', { atMost: 1.2 }],
]

export function growingTables(bench, { steps, warmMs, measureMs }) {
  const place = /** @type {any} */ ({ count: 0 }) // known when it is prepared
  const [first, last] = [steps[0], steps.at(-1)].map(idOf)
  return {
    title: 'Growth',
    table: 'growingTables',
    about: [
      'One merchant with so many payments, each paid, notified and acknowledged, or failed. Rates are a second, of 64',
      'connections in turn; look and take are the statements of a claim; lists and searches are pages of the dashboard,',
      'the middle of all; bytes are for each payment; WAL is that of an initiation; filled is how long its rows took.',
    ],
    rounds: 1, // the rows only grow
    job: { warmMs, measureMs },
    contenders: steps.map(count => ({
      id: idOf(count),
      label: `(c) ${whole(count)} payments`,
      run: job => measureAt(bench, place, count, job),
    })),
    ratios:
      steps.length > 1
        ? flat.map(([name, by, target]) => ({ name, of: last, to: first, by, ...target }))
        : [],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const dataset = await createDataset(bench, 'growing', ports)
      const begin = new Date(Date.now() - spanDays * dayMs)
      const cookies = await openSessions(dataset)
      Object.assign(place, { receiver, dataset, begin, cookies, body: await bodyInSql() })
    },
  }
}

const idOf = count => `at${count}`

async function measureAt(bench, place, count, job) {
  const { dataset, begin } = place
  const { url } = dataset
  const merchant_id = dataset.merchants.at(-1) // the one that openSessions() may look at, too
  const began = performance.now()
  await grow(url, merchant_id, { from: place.count + 1, to: count, begin })
  place.count = count
  const filledSeconds = (performance.now() - began) / 1000
  const { rows, indexes } = await sizes(url)
  const delivered = await deliver(bench, place, job)
  const gateway = await bench.startGateway(dataset, {})
  try {
    const pages = await askPages(place, gateway, merchant_id)
    const asked = await askInterface(bench, place, gateway, { ...job, count })
    return {
      ...asked,
      ...delivered,
      ...pages,
      filledSeconds,
      rowBytes: rows / count,
      indexBytes: indexes / count,
    }
  } finally {
    await gateway.stop()
  }
}

// Deliveries of all merchants, which are removed afterwards.
async function deliver(bench, { receiver, dataset, body }, { warmMs, measureMs }) {
  const { url } = dataset
  const due = Math.ceil(((warmMs + measureMs + 1000) * duePerSecond) / 1000)
  await add(url, dueSql(body, dataset, { from: dueFrom, to: dueFrom + due }))
  const { lookMs, takeMs } = await claimTimes(url)
  const start = () => startOurs(bench, dataset)
  const named = { id: 'delivery', label: '(c) delivery', url, leftSql, start }
  const { rate } = await delivering(bench, receiver, named).run({ warmMs, measureMs })
  for (const table of ['deliveries', 'notifications'])
    await query(url, `delete from ${table} where tx_reference like 'TG-0009%'`)
  await query(url, 'vacuum notifications, deliveries')
  return { lookMs, takeMs, claimMs: lookMs + takeMs, deliveryRate: rate }
}

async function askPages({ dataset, cookies }, gateway, merchant_id) {
  const place = { gateway, cookies, ...(await placesIn(dataset.url, merchant_id)) }
  await askPage(place, 'team', turnRequests) // the connection, and code that is not compiled yet
  const middleOf = async names => {
    const times = []
    for (const name of names) times.push(median(await askPage(place, name, turnRequests)))
    return median(times)
  }
  return { listMs: await middleOf(lists), searchMs: await middleOf(searches) }
}

async function askInterface(bench, { dataset }, gateway, { count, warmMs, measureMs }) {
  const merchant = dataset.callers.at(-1)
  const base = {
    port: gateway.port,
    merchant,
    connections,
    warmMs,
    measureMs,
    stored: count,
    every: paidEvery,
  }
  const run = (kind, ...hooks) =>
    bench.load.run(
      { ...base, kind, series: `G${nextSeries()}` },
      ...(hooks.length > 0 ? hooks : [ignore, ignore]),
    )
  await run('status') // a new process is slow until its code is compiled
  const status = await run('status')
  const page = await run('page')
  const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
  const before = await written(dataset.url)
  const storedBefore = await storedCount(dataset.url)
  const initiation = await run('initiation', meter.start, meter.stop)
  const after = await written(dataset.url)
  const stored = (await storedCount(dataset.url)) - storedBefore
  await query(dataset.url, `delete from payments where invoice_id like 'G%'`)
  return {
    ...meter.complete(initiation),
    walBytes: (after.walBytes - before.walBytes) / stored,
    statusRate: status.rate,
    pageRate: page.rate,
  }
}

const storedCount = async url =>
  (await query(url, `select count(*)::int as count from payments where status = 'awaiting_payment'`))[0].count

function ignore() {}
