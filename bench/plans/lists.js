// What an operator asks of a merchant with two million payments, beside the same of a small one: lists and reports.
import { createMeter } from '../contenders/meter.js'
import { query } from '../rows/database.js'
import { days, fillLists } from '../rows/lists.js'
import { createDataset } from '../rows/dataset.js'
import { thisVersion } from '../version.js'

const [few, usualMany] = [2000, 2_000_000]
const limit = 20
const dayMs = 86_400_000
const belowMs = 1000

const questions = {
  payments: { label: 'payments', filter: {} },
  failed: { label: 'payments, failed', filter: { status: 'failed' } },
  waiting: { label: 'payments, awaiting', filter: { status: 'awaiting_payment' } }, // there is none
  rare: { label: 'payments of a rare outlet', filter: { outlet: 'RARE' } }, // the oldest
  told: { label: 'notifications', filter: {} },
  due: { label: 'notifications, due', filter: { state: 'due' } }, // there is none
  acknowledged: { label: 'notifications, acknowledged', filter: { state: 'acknowledged' } },
  exhausted: { label: 'notifications, exhausted', filter: { state: 'exhausted' } }, // the oldest
  none: { label: 'notifications, no address', filter: { state: 'none' } }, // there is none
  day: { label: 'report of a day', length: 1 },
  week: { label: 'report of a week', length: 7 },
  month: { label: `report of ${days} days`, length: days },
}

export function listsSection(bench, { rounds, many = usualMany }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  const names = Object.entries(questions)
  return {
    title: 'Lists and reports',
    table: 'callback',
    about: [
      `Of a merchant with ${many.toLocaleString('en')} payments in ${days} days, each told and acknowledged, but for a few; beside one with`,
      `${few.toLocaleString('en')}. A list is the newest ${limit}.`,
    ],
    rounds,
    job: { warmMs: 0, measureMs: 1000 },
    contenders: names.flatMap(([id, { label }]) => [
      { id: `${id}-few`, label: `${label}, small`, run: () => ask(bench, place, id, 'few') },
      { id: `${id}-many`, label: `${label}, large`, run: () => ask(bench, place, id, 'many') },
    ]),
    ratios: names.map(([id, { label }]) => ({
      name: `${label}: large/small`,
      of: `${id}-many`,
      to: `${id}-few`,
      by: 'p50',
    })),
    limits: names.map(([id, { label }]) => ({
      name: `${label}, ms`,
      of: `${id}-many`,
      by: 'p50',
      below: belowMs,
    })),
    async prepare() {
      await bench.stopGateways()
      const dataset = await createDataset(bench, 'lists', [1, 2])
      const end = new Date()
      const [small, large] = dataset.merchants
      await fillLists(dataset.url, small, few, end)
      await fillLists(dataset.url, large, many, end)
      await query(dataset.url, 'vacuum analyze')
      await query(dataset.url, 'checkpoint')
      Object.assign(place, { url: dataset.url, end, few: small, many: large })
    },
  }
}

async function ask(bench, { url, end, ...merchants }, id, whose) {
  const [{ openDb }] = await thisVersion.load('store/db')
  const db = openDb(url, 1, 'bench')
  try {
    await answer(db, 'payments', merchants.few, end) // the connection, and what it has to learn first
    const meter = createMeter({ postgres: bench.server.cpuMs })
    meter.start()
    const began = performance.now()
    await answer(db, id, merchants[whose], end)
    const ms = performance.now() - began
    meter.stop()
    const figures = meter.complete({ requests: 1, rate: 1000 / ms, p50: ms, p99: ms, cpuMs: 0 })
    return { ...figures, worst: ms }
  } finally {
    await db.end()
  }
}

async function answer(db, id, merchant_id, end) {
  const [{ newestPayments }, { newestNotifications }, { outletReport }] = await thisVersion.load(
    'actions/payments/findPayments',
    'actions/notifications/findNotifications',
    'actions/payments/outletReport',
  )
  const { label, filter, length } = questions[id]
  if (label.startsWith('payments')) return newestPayments(db, { ...filter, merchant_id, limit })
  if (label.startsWith('notifications')) return newestNotifications(db, { ...filter, merchant_id, limit })
  const from = new Date(end.getTime() - length * dayMs)
  return outletReport(db, { merchant_id, mode: 'test', from, until: new Date(end.getTime() + 1) })
}
