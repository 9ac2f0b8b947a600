// What an operator asks of a merchant with two million payments, beside the same of a small one: lists, reports, the ledger
// and the search of support, which is of all merchants: so it asks a database with a small merchant only, and one with both.
import { createMeter } from '../contenders/meter.js'
import { query } from '../rows/database.js'
import { days, fillAttempts, fillLedger, fillLists } from '../rows/lists.js'
import { createDataset } from '../rows/dataset.js'
import { workOnLedger } from '../rows/worked.js'
import { thisVersion } from '../version.js'

const [few, usualMany] = [2000, 2_000_000]
const limit = 20
const dayMs = 86_400_000
const hourMs = 3_600_000
const belowMs = 1000
const searchBelowMs = 150
const sought = 1041 // the number of a payment that has its own address

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
  month: { label: `report of ${days} days`, length: days, below: 100 },
  balance: { label: 'ledger, balances', below: 100 },
  statement: { label: 'ledger, statement of an hour', hours: 1 },
  reference: { label: 'search, reference', text: ({ reference }) => reference },
  invoice: { label: 'search, invoice id', text: () => `INV-${sought}` },
  phone: { label: 'search, phone and wallet', text: () => `024 ${String(sought).padStart(7, '0')}` },
  email: { label: 'search, email', text: () => `c${sought}@mail.example` },
  shared: { label: 'search, email of every second payment', text: () => 'shop@mail.example' },
  provider: { label: "search, provider's reference", text: () => `MP${sought}` },
  link: { label: 'search, checkout link', text: ({ token }) => `https://pay.example/checkout/${token}` },
  nobody: { label: 'search, phone of nobody', text: () => '0209999999' },
  latest: { label: 'latest payments' },
}
const isSearch = ({ label }) => label.startsWith('search') || label.startsWith('latest')

export function listsSection(bench, { rounds, many = usualMany }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  const names = Object.entries(questions)
  return {
    title: 'Lists, reports and search',
    table: 'callback',
    about: [
      `Of a merchant with ${many.toLocaleString('en')} payments in ${days} days, each told and acknowledged, but for a few; beside one with`,
      `${few.toLocaleString('en')}. A list is the newest ${limit}. A search is of all payments of a database: of one with`,
      `${few.toLocaleString('en')}, and of one with ${(many + few).toLocaleString('en')}.`,
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
    limits: names.map(([id, question]) => ({
      name: `${question.label}, ms`,
      of: `${id}-many`,
      by: 'p50',
      below: question.below ?? (isSearch(question) ? searchBelowMs : belowMs),
    })),
    async prepare() {
      await bench.stopGateways()
      const dataset = await createDataset(bench, 'lists', [1, 2])
      const end = new Date()
      const [small, large] = dataset.merchants
      const alone = await createDataset(bench, 'search', [1])
      await fill(alone.url, alone.merchants[0], few, end)
      await fill(dataset.url, small, few, end)
      await fill(dataset.url, large, many, end)
      await workOnLedger(dataset, end)
      for (const url of [alone.url, dataset.url]) await query(url, 'vacuum analyze')
      await query(dataset.url, 'checkpoint')
      Object.assign(place, {
        end,
        urls: { few: alone.url, many: dataset.url },
        sought: { few: await soughtIn(alone.url), many: await soughtIn(dataset.url) },
        few: small,
        many: large,
      })
    },
  }
}

async function fill(url, merchant_id, count, end) {
  await fillLists(url, merchant_id, count, end)
  await fillAttempts(url, merchant_id, count, end)
  await fillLedger(url, merchant_id, count, end)
}

async function soughtIn(url) {
  const [row] = await query(
    url,
    `select tx_reference as reference, tx_token as token from payments where invoice_id = 'INV-${sought}' limit 1`,
  )
  return row
}

async function ask(bench, place, id, whose) {
  const [{ openDb }] = await thisVersion.load('store/db')
  const url = isSearch(questions[id]) ? place.urls[whose] : place.urls.many
  const db = openDb(url, 4, 'bench')
  try {
    await answer(db, 'payments', place, 'few') // the connection, and what it has to learn first
    const meter = createMeter({ postgres: bench.server.cpuMs })
    meter.start()
    const began = performance.now()
    await answer(db, id, place, whose)
    const ms = performance.now() - began
    meter.stop()
    const figures = meter.complete({ requests: 1, rate: 1000 / ms, p50: ms, p99: ms, cpuMs: 0 })
    return { ...figures, worst: ms }
  } finally {
    await db.end()
  }
}

async function answer(db, id, { end, ...place }, whose) {
  const [{ newestPayments }, { newestNotifications }, { outletReport }, search, ledger, statements] =
    await thisVersion.load(
      'actions/payments/findPayments',
      'actions/notifications/findNotifications',
      'actions/payments/outletReport',
      'actions/payments/searchPayments',
      'actions/ledger/balances',
      'actions/ledger/statement',
    )
  const { label, filter, length, text, hours } = questions[id]
  const merchant_id = place[whose]
  if (text) return search.searchByText(db, text(place.sought[whose]), undefined, end)
  if (id === 'balance') return ledger.balancesAt(db, merchant_id, end)
  if (hours) {
    const from = new Date(end.getTime() - hours * hourMs)
    const request = {
      merchant_id,
      mode: /** @type {const} */ ('test'),
      account: 'merchant',
      from,
      until: end,
    }
    return statements.accountStatement(db, request, 200_000)
  }
  if (id === 'latest') return search.newestOfAll(db)
  if (label.startsWith('payments')) return newestPayments(db, { ...filter, merchant_id, limit })
  if (label.startsWith('notifications')) return newestNotifications(db, { ...filter, merchant_id, limit })
  // Whole days and the present one, as the dates of the command mean.
  const from = new Date(Math.floor(end.getTime() / dayMs - length) * dayMs)
  return outletReport(db, { merchant_id, mode: 'test', from, until: new Date(end.getTime() + 1) })
}
