// Pages of the dashboard for a merchant with two million payments, beside the same of a small one: requests with a session
// to a gateway as it ships.
import { createMeter } from '../contenders/meter.js'
import { createDataset } from '../rows/dataset.js'
import { query } from '../rows/database.js'
import { fillAttempts, fillLedger, fillLists } from '../rows/lists.js'
import { thisVersion } from '../version.js'

const [few, usualMany] = [2000, 2_000_000]
const pageBelowMs = 150
const overviewBelowMs = 300
const sought = 1041 // the number of a payment that has its own address

// By the path below the merchant's part. The names are those of rows/lists.js.
const pages = {
  overview: { label: 'overview', path: () => '', below: overviewBelowMs },
  money: { label: 'money', path: () => '/money' },
  list: { label: 'payments', path: () => '/payments' },
  second: { label: 'payments, an older page', path: ({ reference }) => `/payments?before=${reference}` },
  failed: { label: 'payments, failed', path: () => '/payments?status=failed' },
  waiting: { label: 'payments, awaiting', path: () => '/payments?status=awaiting_payment' }, // there is none
  rare: { label: 'payments, a rare outlet', path: () => '/payments?outlet=RARE' }, // the oldest
  method: { label: 'payments, a method and an outlet', path: () => '/payments?method=card&outlet=OUT-3' }, // none
  invoice: { label: 'search, invoice', path: () => `/payments?q=INV-${sought}` },
  prefix: { label: 'search, beginning of an invoice', path: () => `/payments?q=INV-${sought}9` },
  wide: { label: 'search, beginning of all invoices', path: () => '/payments?q=INV-' },
  reference: { label: 'search, reference', path: ({ reference }) => `/payments?q=${reference}` },
  phone: { label: 'search, phone', path: () => `/payments?q=024${String(sought).padStart(7, '0')}` },
  nobody: { label: 'search, phone of nobody', path: () => '/payments?q=0209999999' },
  email: { label: 'search, email', path: () => `/payments?q=c${sought}@mail.example` },
  shared: { label: 'search, email of every second payment', path: () => '/payments?q=shop@mail.example' },
  provider: { label: "search, provider's reference", path: () => `/payments?q=MP${sought}` },
  amount: { label: 'search, amount of all payments', path: () => '/payments?q=25.50' },
  other: { label: 'search, amount of none', path: () => '/payments?q=77.77' },
  paidOther: { label: 'search, amount of none, paid', path: () => '/payments?q=77.77&status=paid' },
  name: { label: 'search, name of all payments', path: () => '/payments?q=Ama' },
  stranger: { label: 'search, name of nobody', path: () => '/payments?q=Zubeiru' },
  paidStranger: { label: 'search, name of nobody, paid', path: () => '/payments?q=Zubeiru&status=paid' },
  payment: { label: 'a payment', path: ({ reference }) => `/payments/${reference}` },
}

const csv = 'csv'

export function dashboardSection(bench, { rounds, many = usualMany }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  const names = Object.entries(pages)
  const all = [...names.map(([id, { label }]) => ({ id, label })), { id: csv, label: 'CSV of all payments' }]
  return {
    title: 'Dashboard',
    table: 'callback',
    about: [
      `Requests with a session for pages of a merchant with ${many.toLocaleString('en')} payments in 30 days, beside one with`,
      `${few.toLocaleString('en')}. The CSV is that of all payments.`,
    ],
    rounds,
    job: { warmMs: 0, measureMs: 1000 },
    contenders: all.flatMap(({ id, label }) => [
      { id: `${id}-few`, label: `${label}, small`, run: () => ask(bench, place, id, 'few') },
      { id: `${id}-many`, label: `${label}, large`, run: () => ask(bench, place, id, 'many') },
    ]),
    ratios: names.map(([id, { label }]) => ({
      name: `${label}: large/small`,
      of: `${id}-many`,
      to: `${id}-few`,
      by: 'p50',
    })),
    limits: names.map(([id, { label, ...page }]) => ({
      name: `${label}, ms`,
      of: `${id}-many`,
      by: 'p50',
      below: 'below' in page ? page.below : pageBelowMs,
    })),
    async prepare() {
      await bench.stopGateways()
      const dataset = await createDataset(bench, 'dashboard', [1, 2])
      const end = new Date()
      const [small, large] = dataset.merchants
      for (const [merchant_id, count] of [
        [small, few],
        [large, many],
      ]) {
        await fillLists(dataset.url, merchant_id, count, end)
        await fillAttempts(dataset.url, merchant_id, count, end)
        await fillLedger(dataset.url, merchant_id, count, end)
      }
      await workOnSums(dataset, end)
      await query(dataset.url, 'vacuum analyze')
      await query(dataset.url, 'checkpoint')
      const cookie = await openSession(dataset)
      const gateway = await bench.startGateway(dataset, {})
      Object.assign(place, {
        gateway,
        cookie,
        few: { merchant_id: small, reference: await referenceOf(dataset.url, small) },
        many: { merchant_id: large, reference: await referenceOf(dataset.url, large) },
      })
    },
  }
}

// What the worker has done by then.
async function workOnSums({ url, merchants }, now) {
  const [{ openDb }, { sumPayments }, { takeSnapshot }] = await thisVersion.load(
    'store/db',
    'actions/payments/outletReport',
    'actions/ledger/balances',
  )
  const db = openDb(url, 2, 'bench')
  try {
    for (const merchant_id of merchants) {
      let hasMore = true
      while (hasMore) hasMore = await sumPayments(db, { merchant_id, mode: 'test' }, 'UTC', now)
      await takeSnapshot(db, merchant_id, 'UTC', now)
    }
  } finally {
    await db.end()
  }
}

// Of an owner of both merchants.
async function openSession({ url, merchants }) {
  const [{ openDb }, { startUserSession }, { addUser, saveMembership }] = await thisVersion.load(
    'store/db',
    'actions/access/sessions',
    'store/access/users',
  )
  const db = openDb(url, 2, 'bench')
  const now = new Date()
  const user_id = 'bench00000'
  try {
    await addUser(db, {
      user_id,
      email: 'bench@mail.example',
      name: 'Bench',
      lang: 'en',
      password_hash: null,
      operator_role: null,
      sealed_totp: null,
      totp_step: null,
      active: true,
      created_at: now,
      signed_in_at: now,
    })
    for (const merchant_id of merchants)
      await saveMembership(db, { merchant_id, user_id, role: 'owner', outlets: null, created_at: now })
    return `tollgate_session=${await startUserSession(db, user_id, { address: '127.0.0.1', agent: 'bench' }, now)}`
  } finally {
    await db.end()
  }
}

async function referenceOf(url, merchant_id) {
  const [row] = await query(
    url,
    `select tx_reference as reference from payments where merchant_id = '${merchant_id}' and invoice_id = 'INV-${sought}'`,
  )
  return row.reference
}

async function ask(bench, { gateway, cookie, ...place }, id, whose) {
  const { merchant_id } = place[whose]
  const base = `http://127.0.0.1:${gateway.port}/dashboard/m/${merchant_id}/test`
  const path = id === csv ? '/payments.csv' : pages[id].path(place[whose])
  const get = async address => {
    const answer = await fetch(address, { headers: { cookie, accept: 'text/html' } })
    if (answer.status !== 200) throw new Error(`${address} was answered with ${answer.status}`)
    for await (const _ of answer.body ?? []); // read to its end, and not kept
  }
  await get(`http://127.0.0.1:${gateway.port}/dashboard/account`) // the connection
  const meter = createMeter({ postgres: bench.server.cpuMs, gateway: gateway.cpuMs })
  meter.start()
  const began = performance.now()
  await get(`${base}${path}`)
  const ms = performance.now() - began
  meter.stop()
  const figures = meter.complete({ requests: 1, rate: 1000 / ms, p50: ms, p99: ms, cpuMs: 0 })
  return { ...figures, worst: ms }
}
