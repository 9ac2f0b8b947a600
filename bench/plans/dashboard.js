// Every page of the dashboard for a merchant with two million payments, beside the same of a small one: requests with a
// session to a gateway as it ships.
import { createMeter } from '../contenders/meter.js'
import { fillDashboard, fillMinutes } from '../rows/dashboard.js'
import { createDataset } from '../rows/dataset.js'
import { query } from '../rows/database.js'
import { workOnLedger } from '../rows/worked.js'
import { median } from '../report/figures.js'
import { thisVersion } from '../version.js'
import { dashboardBackupSection } from './dashboardBackup.js'
import { dashboardCsvSection } from './dashboardCsv.js'
import { merchantPages, operatorPages, sought } from './dashboardPages.js'
import { once } from './once.js'

const [few, usualMany] = [2000, 2_000_000]
const belowMs = 150
const usualRequests = 5 // of one page in a turn, one after the other
const dayMs = 86_400_000
const user_id = 'u_bench0owner'
const operator_id = 'u_bench0admin'

export const dashboardPages = { ...merchantPages, ...operatorPages }

export function dashboardSections(bench, { rounds, many = usualMany, requests = usualRequests }) {
  const places = once(async () => ({
    few: await openDashboard(bench, await dashboardDataset(bench, 'dashboard_few', [few])),
    many: await openDashboard(bench, await dashboardDataset(bench, 'dashboard_many', [few, many])),
  }))
  return [
    pagesSection(bench, { rounds, many, requests, places }),
    dashboardCsvSection(bench, { rounds: 1, places }),
    dashboardBackupSection(bench, { rounds: 1, places }),
  ]
}

function pagesSection(bench, { rounds, many, requests, places }) {
  const place = /** @type {any} */ ({}) // known when it is prepared
  const names = Object.entries(dashboardPages)
  return {
    title: 'Dashboard',
    table: 'pages',
    about: [
      `Pages of a merchant with ${many.toLocaleString('en')} payments in 400 days, half of them of the last thirty, beside one with`,
      `${few.toLocaleString('en')}. The operator's pages are of a database with both, and of one with the small one. A turn has`,
      `${requests} requests, one after the other; times are from the request to the last byte of the answer.`,
    ],
    rounds,
    job: { warmMs: 0, measureMs: 300 },
    contenders: names.flatMap(([id, { label }]) => [
      { id: `${id}-few`, label: `${label}, small`, run: () => ask(bench, place, id, 'few', requests) },
      { id: `${id}-many`, label: `${label}, large`, run: () => ask(bench, place, id, 'many', requests) },
    ]),
    ratios: [],
    limits: names.map(([id, { label, below = belowMs }]) => ({
      name: `${label}, ms`,
      of: `${id}-many`,
      by: 'p50',
      below,
    })),
    async prepare() {
      await bench.stopGateways()
      Object.assign(place, await places())
    },
  }
}

// A database with merchants that have so many payments. The last one is looked at.
export async function dashboardDataset(bench, name, counts) {
  const dataset = await createDataset(bench, name, counts)
  const end = new Date()
  for (const [at, count] of counts.entries())
    await fillDashboard(dataset.url, { merchant_id: dataset.merchants[at], user_id }, count, end)
  await fillMinutes(dataset.url, end)
  await workOnLedger(dataset, end)
  await query(dataset.url, 'vacuum analyze')
  await query(dataset.url, 'checkpoint')
  return dataset
}

// A gateway, with sessions of an owner and of an operator.
export async function openDashboard(bench, dataset) {
  const cookies = await openSessions(dataset)
  const gateway = await bench.startGateway(dataset, {})
  return { gateway, cookies, url: dataset.url, ...(await placesIn(dataset.url, dataset.merchants.at(-1))) }
}

export async function openSessions({ url, merchants }) {
  const [{ openDb }, { startUserSession }, { addUser, saveMembership }] = await thisVersion.load(
    'store/db',
    'actions/access/sessions',
    'store/access/users',
  )
  const db = openDb(url, 2, 'bench')
  const now = new Date()
  const sessionOf = async (id, operator_role) => {
    await addUser(db, {
      user_id: id,
      email: `${id}@mail.example`,
      name: 'Bench',
      lang: 'en',
      password_hash: null,
      operator_role,
      sealed_totp: operator_role && Buffer.alloc(1), // an operator needs a second factor
      totp_step: null,
      active: true,
      created_at: now,
      signed_in_at: now,
    })
    return `tollgate_session=${await startUserSession(db, id, { address: '127.0.0.1', agent: 'bench' }, now)}`
  }
  try {
    const owner = await sessionOf(user_id, null)
    for (const merchant_id of merchants)
      await saveMembership(db, { merchant_id, user_id, role: 'owner', outlets: null, created_at: now })
    return { owner, operator: await sessionOf(operator_id, 'admin') }
  } finally {
    await db.end()
  }
}

const day = at => new Date(at).toISOString().slice(0, 10)

export async function placesIn(url, merchant_id) {
  const isMine = `merchant_id = '${merchant_id}'`
  const now = Date.now()
  const [row] = await query(
    url,
    `select (select tx_reference from payments where ${isMine} and invoice_id = 'INV-${sought}') as reference,
      (select tx_reference from payments where ${isMine} and created_at > now() - interval '20 days'
        order by tx_reference limit 1) as middle,
      (select transfer_id from transfers where ${isMine} and created_at < now() - interval '10 days'
        and 'merchant' in (debit_account, credit_account) order by created_at desc limit 1) as line`,
  )
  return {
    merchant_id,
    ...row,
    today: day(now),
    yesterday: day(now - dayMs),
    monthAgo: day(now - 29 * dayMs),
    oldDay: day(now - 200 * dayMs),
  }
}

// Filling takes longer than a session and its confirmation last.
const refreshSessions = ({ url }) =>
  query(url, 'update user_sessions set seen_at = now(), confirmed_at = now()')

async function ask(bench, places, id, whose, requests) {
  const place = places[whose]
  await refreshSessions(place)
  if (requests > 1) await askPage(place, 'team', 1) // the connection
  const meter = createMeter({ postgres: bench.server.cpuMs, gateway: place.gateway.cpuMs })
  meter.start()
  const times = await askPage(place, id, requests)
  meter.stop()
  const p50 = median(times)
  const worst = Math.max(...times)
  const figures = meter.complete({ requests, rate: 1000 / p50, p50, p99: worst, cpuMs: 0 })
  return { ...figures, worst }
}

// How long each of so many requests took, in milliseconds.
/** @type {(at: any, id: string, count: number) => Promise<number[]>} */
export async function askPage({ gateway, cookies, ...place }, id, count) {
  const { path, form, fields } = dashboardPages[id]
  const isOperators = id in operatorPages
  const origin = `http://127.0.0.1:${gateway.port}`
  const base = `${origin}/dashboard${isOperators ? '/operator' : `/m/${place.merchant_id}/test`}`
  const headers = { cookie: isOperators ? cookies.operator : cookies.owner, accept: 'text/html', origin }
  const send = async (address, more = {}) => {
    const answer = await fetch(address, { headers, redirect: 'manual', ...more })
    // The operator's search leads to the only payment that it finds.
    if (![200, 303].includes(answer.status)) throw new Error(`${address} was answered with ${answer.status}`)
    return answer.text()
  }
  const more = form && { method: 'POST', body: formBody(await send(`${base}${form}`), fields) }
  const times = []
  while (times.length < count) {
    const began = performance.now()
    await send(`${base}${path(place)}`, more)
    times.push(performance.now() - began)
  }
  return times
}

// With the token of the page that the form is on.
function formBody(page, fields) {
  const [input = ''] = page.match(/<input[^>]*name="form_token"[^>]*>/) ?? []
  const [, token = ''] = input.match(/value="([^"]*)"/) ?? []
  return new URLSearchParams({ form_token: token, ...fields })
}
