// What an operator asks of a merchant with two million payments, beside the same of a small one: lists and reports.
import { createMeter } from './contenders.js'
import { query } from './database.js'
import { days, fillLists } from './listRows.js'
import { createTown } from './town.js'
import { thisVersion } from './version.js'

const [few, many] = [2000, 2_000_000]
const limit = 20
const dayMs = 86_400_000
const belowMs = 1000

const questions = {
  payments: ['payments', {}],
  failed: ['payments, failed', { status: 'failed' }],
  waiting: ['payments, awaiting', { status: 'awaiting_payment' }], // there is none
  rare: ['payments of a rare outlet', { outlet: 'RARE' }], // the oldest
  told: ['notifications', {}],
  due: ['notifications, due', { state: 'due' }], // there is none
  acknowledged: ['notifications, acknowledged', { state: 'acknowledged' }],
  exhausted: ['notifications, exhausted', { state: 'exhausted' }], // the oldest
  none: ['notifications, sent nowhere', { state: 'none' }], // there is none
  day: ['report of a day', 1],
  week: ['report of a week', 7],
  month: [`report of ${days} days`, days],
}

export function listsSection(bench, { rounds }) {
  const place = {}
  const names = Object.entries(questions).map(([id, [label]]) => [id, String(label)])
  return {
    title: 'Lists and reports',
    table: 'knock',
    about: [
      `Of a merchant with ${many.toLocaleString('en')} payments in ${days} days, each told and acknowledged, but for a few; beside one with`,
      `${few.toLocaleString('en')}. A list is the newest ${limit}.`,
    ],
    rounds,
    job: { warmMs: 0, measureMs: 1000 },
    contenders: names.flatMap(([id, label]) => [
      { id: `${id}-few`, label: `${label}, small`, run: () => ask(bench, place, id, 'few') },
      { id: `${id}-many`, label: `${label}, large`, run: () => ask(bench, place, id, 'many') },
    ]),
    ratios: names.map(([id, label]) => ({
      name: `${label}: large/small`,
      of: `${id}-many`,
      to: `${id}-few`,
      by: 'p50',
    })),
    limits: names.map(([id, label]) => ({
      name: `${label}, ms`,
      of: `${id}-many`,
      by: 'p50',
      below: belowMs,
    })),
    async prepare() {
      await bench.stopGateways()
      const town = await createTown(bench, 'lists', [1, 2])
      const end = new Date()
      const [small, large] = town.merchants
      await fillLists(town.url, small, few, end)
      await fillLists(town.url, large, many, end)
      await query(town.url, 'vacuum analyze')
      await query(town.url, 'checkpoint')
      const [{ openDb }, payments, notifications, reports] = await thisVersion.load(
        'store/db',
        'actions/findPayments',
        'actions/findNotifications',
        'actions/outletReport',
      )
      const db = openDb(town.url, 2, 'bench')
      Object.assign(place, { db, end, few: small, many: large, ...payments, ...notifications, ...reports })
    },
  }
}

async function ask(bench, place, id, whose) {
  const meter = createMeter({ postgres: bench.server.cpuMs })
  meter.start()
  const began = performance.now()
  await answer(place, id, place[whose])
  const ms = performance.now() - began
  meter.stop()
  const figures = meter.complete({ requests: 1, rate: 1000 / ms, p50: ms, p99: ms, cpuMs: 0 })
  return { ...figures, worst: ms }
}

function answer({ db, end, newestPayments, newestNotifications, outletReport }, id, merchant_id) {
  const [label, filter] = questions[id]
  if (label.startsWith('payments')) return newestPayments(db, { ...filter, merchant_id, limit })
  if (label.startsWith('notifications')) return newestNotifications(db, { ...filter, merchant_id, limit })
  const from = new Date(end.getTime() - filter * dayMs)
  return outletReport(db, { merchant_id, mode: 'test', from, until: new Date(end.getTime() + 1) })
}
