import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { refundString } from '../../src/core/interface/signature.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDb } from '../../src/store/db.ts'
import { launch, newMasterKey, tollgateJson } from '../cli/tollgate.ts'
import { disbursementCredentials, mtnCredentials, type MtnSimulator, openMtn } from '../simulators/mtn/mtn.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { type OwnServer, startServer } from '../support/database/ownServer.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'
import { type GatewayProcess, spawnGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { askAt, checkPath, type Load, mobileMoney, startLoad } from '../support/merchant/load.ts'
import { post, send, sign, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

// An installation on its private PostgreSQL, with a shop, a provider of SMS and a payment provider that count what they
// receive. It is backed up under load and stopped, and copied in four ways. A node runs on each copy.
const base = mkdtempSync(join(tmpdir(), 'tollgate-drill-'))
const masterKey = newMasterKey()
const quietMs = 5000 // several rounds of each worker
const soon = { timeout: 60_000, interval: 100 }

let shop: Receiver
let sms: Receiver
let mtn: MtnSimulator
let original: GatewayProcess
let ama: TestMerchant // takes live payments
let kofi: TestMerchant // takes the test payments of the load
let load: Load
let restored: FreshDatabase
let server: OwnServer
let route: PostgresProxy // to the server
let backup: { file: string; taken_at: string }
let live: Record<'waiting' | 'paid', { invoice_id: string; reference: string }>
const nodes = new Map<string, GatewayProcess>()

type Place = Record<string, string>
const folder = (name: string): Place => ({ TOLLGATE_DATA_DIR: join(base, name) })
const environment = (place: Place) => ({
  TOLLGATE_MASTER_KEY: masterKey,
  TOLLGATE_EGRESS_LOOPBACK: 'on',
  LOG_LEVEL: 'warn',
  SMS_HTTP_URL: `${sms.url}/send?to={to_digits}&text={text}&id={id}`,
  MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
  MTN_API_USER: mtnCredentials.apiUser,
  MTN_API_KEY: mtnCredentials.apiKey,
  MTN_ENVIRONMENT: 'mtnghana',
  MTN_URL: mtn.url,
  MTN_DISBURSEMENT_SUBSCRIPTION_KEY: disbursementCredentials.subscriptionKey,
  MTN_DISBURSEMENT_API_USER: disbursementCredentials.apiUser,
  MTN_DISBURSEMENT_API_KEY: disbursementCredentials.apiKey,
  ...place,
})

// What the shop, the provider of SMS and the payment provider have received.
const counts = () => ({ shop: shop.received.length, sms: sms.received.length, provider: mtn.asked.length })

async function onPrivate<T>(name: string, work: (url: string) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded(join(base, name), 'command')
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

async function addMerchant(url: string, path: string): Promise<TestMerchant> {
  const db = openDb(url, 2)
  const keys = givenMasterKeys([Buffer.from(masterKey, 'hex')])
  const merchant = (await onboard(db, keys, `Shop ${path}`, ['test', 'live'], new Date())) as TestMerchant
  const settings = ['rate_limit=0', 'refunds=on', `ipn_url=${shop.url}${path}`]
  assert.deepEqual((await setMerchant(db, merchant.merchant_id, settings))?.faults, [])
  await db.end()
  return merchant
}

// The customer gets an SMS.
const requestLive = (url: string, number: string) => post(url, mobileMoney(ama.live, number, { number }))

async function bought(number: string) {
  const { http, body } = await requestLive(original.url, number)
  assert.equal(http, 200, JSON.stringify(body))
  return { invoice_id: String(body.invoice_id), reference: String(body.tx_reference) }
}

const statusOf = async (url: string, { invoice_id }: { invoice_id: string }) =>
  (await send(url + checkPath(ama.live, invoice_id))).body.status

async function refund(url: string, invoice_id: string) {
  const signed = { merchant_key: ama.live.merchant_key, invoice_id, refund_id: 'R-1', amount: '5.00' }
  const body = JSON.stringify({ ...signed, secure_hash: sign(ama.live.secret_key, refundString(signed)) })
  return send(`${url}/v1/refunds`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

// Everything that waits is due, as on a copy that is started the next day.
const makeDue = (url: string) =>
  query(
    url,
    `with d as (update deliveries set next_try_at = now(), lease_until = null where next_try_at is not null),
       m as (update messages set next_try_at = now() where next_try_at is not null),
       a as (update attempts set next_poll_at = now(), lease_until = null where next_poll_at is not null),
       r as (update refunds set next_poll_at = now(), lease_until = null where next_poll_at is not null)
     update payments set expires_at = now() where status = 'awaiting_payment' and mode = 'live'`,
  )

beforeAll(async () => {
  shop = await openReceiver()
  sms = await openReceiver((_request, response) => void response.writeHead(503).end())
  // The live notification is due still when the original stops.
  shop.answerWith(({ path }, response) => void response.writeHead(path === '/ama' ? 500 : 200).end())
  mtn = await openMtn()
  mtn.refundRule({ amount: '5.00', story: { ends: { status: 'SUCCESSFUL' }, afterReads: 1000 } })
  original = await spawnGateway(environment(folder('one')))
  await onPrivate('one', async url => {
    ama = await addMerchant(url, '/ama')
    kofi = await addMerchant(url, '/kofi')
  })
  live = { waiting: await bought('0244123456'), paid: await bought('0244000001') }
  await bought('0244123457') // nobody approves it, and its time is over
  const isPaid = async () => (await statusOf(original.url, live.paid)) === 'paid'
  await vi.waitUntil(isPaid, soon)
  assert.equal((await refund(original.url, live.paid.invoice_id)).http, 200)
  await vi.waitUntil(() => received('/ama').length > 0 && sms.received.length > 0, soon)
}, 300_000)
afterAll(async () => {
  for (const node of [original, ...nodes.values()]) await node?.kill('SIGTERM')
  await route?.stop()
  await server?.stop()
  await restored?.drop()
  for (const receiver of [shop, sms]) await receiver?.close()
  await mtn?.stop()
  rmSync(base, { recursive: true, force: true })
})

const received = (path: string) => shop.received.filter(request => request.path === path)

// It is stopped in the middle, with its snapshot and its locks, while payments, refunds and notifications go on.
test('a backup under load delays no payment', async () => {
  load = startLoad(askAt(original.url), kofi.test, { refunds: true })
  const has = (what: 'reference' | 'refund_id') => () => load.bought.filter(one => one[what]).length
  await expect.poll(has('refund_id'), soon).toBeGreaterThan(10)
  const running = launch(environment(folder('one')), 'backup', '--out', join(base, 'backup'), '--json')
  await onPrivate('one', async url => {
    const session = `select from pg_stat_activity where application_name = 'tollgate backup' and query ilike 'copy%'`
    await expect.poll(async () => (await query(url, session)).length, { ...soon, interval: 2 }).toBe(1)
    running.child.kill('SIGSTOP')
    const { length } = load.bought
    await expect.poll(() => load.bought.length, soon).toBeGreaterThan(length + 10)
    running.child.kill('SIGCONT')
  })
  const { code, stdout, stderr } = await running.ended
  expect([code, stderr]).toEqual([0, ''])
  backup = JSON.parse(stdout)
  const after = has('reference')()
  await expect.poll(has('reference'), soon).toBeGreaterThan(after)
  await load.stop()
  expect(load.failed).toEqual([])
})

// Everything was stopped when the copies were made.
const copies: Record<string, () => Promise<Place>> = {
  'a backup, restored into another database': async () => {
    restored = await freshDatabase()
    return restore({ DATABASE_URL: restored.url })
  },
  'a backup, restored into another data folder': () => restore(folder('two')),
  'the files in another data folder': async () => {
    execFileSync('cp', ['-a', join(base, 'one'), join(base, 'three')])
    await onPrivate('three', makeDue)
    return { ...folder('three'), TOLLGATE_WORKERS: 'off' }
  },
  'the files, at another address': async () => {
    execFileSync('cp', ['-a', join(base, 'one'), join(base, 'four')])
    server = await startServer(join(base, 'four'))
    await makeDue(server.url)
    route = await startPostgresProxy(server.url)
    return { DATABASE_URL: route.url }
  },
}
const [intoDatabase = '', , withoutWorkers = ''] = Object.keys(copies)
const places = new Map<string, Place>()

async function restore(place: Place): Promise<Place> {
  const { code, error } = await tollgateJson(environment(place), 'restore', backup.file)
  expect([code, error]).toEqual([0, undefined])
  await (place.DATABASE_URL ? makeDue(place.DATABASE_URL) : onPrivate('two', makeDue))
  return place
}

let before: ReturnType<typeof counts>

test('nodes start on four copies, and say that they are copies', async () => {
  await original.kill('SIGTERM')
  before = counts()
  for (const [what, make] of Object.entries(copies)) places.set(what, await make())
  await Promise.all(
    [...places].map(async ([what, place]) => nodes.set(what, await spawnGateway(environment(place)))),
  )
  for (const [what, { url, output }] of nodes) {
    const { http, text } = await send(`${url}/readyz`)
    expect([what, http, text]).toEqual([what, 503, expect.stringMatching(/is a copy: .*tollgate adopt/)])
    expect(output()).toMatch(/The database of this gateway is a copy/)
  }
})

test('what was acknowledged before the snapshot is restored, and nothing by halves', async () => {
  const taken = Date.parse(backup.taken_at)
  const isBefore = (at: number | undefined) => at !== undefined && at < taken
  const [{ payments, refunds }] = await query(
    restored.url,
    `select array(select invoice_id || ' ' || tx_reference from payments) as payments,
       array(select refund_id from refunds) as refunds`,
  )
  const requested = load.bought.filter(one => isBefore(one.acknowledgedAt))
  const refunded = load.bought.filter(one => isBefore(one.refundedAt))
  expect(Math.min(requested.length, refunded.length)).toBeGreaterThan(5)
  const named = requested.map(({ invoice_id, reference }) => `${invoice_id} ${reference}`)
  expect(named.filter(name => !payments.includes(name))).toEqual([])
  expect(refunded.filter(({ refund_id }) => !refunds.includes(refund_id))).toEqual([])
  expect(payments.length).toBeLessThan(load.bought.length) // the load went on after it
  expect(await query(restored.url, halves)).toEqual([])
  for (const name of ['ledger', 'audit'])
    expect((await tollgateJson(environment({ DATABASE_URL: restored.url }), name, 'verify')).code).toBe(0)
})

// A status with its event, its notification, its attempt and its transfers; a refund with its transfers.
const halves = `
  select tx_reference, status from payments p
  where status is distinct from coalesce((select to_status from events e where e.kind = 'status_changed'
      and (e.merchant_id, e.tx_reference) = (p.merchant_id, p.tx_reference) order by sequence desc limit 1), 'awaiting_payment')
    or (status <> 'awaiting_payment') is distinct from exists (select from notifications n
      where (n.merchant_id, n.tx_reference, n.status, n.type) = (p.merchant_id, p.tx_reference, p.status, 'status'))
    or (status = 'paid') is distinct from exists (select from attempts a
      where (a.merchant_id, a.tx_reference, a.attempt_id) = (p.merchant_id, p.tx_reference, p.paid_attempt_id) and a.state = 'paid')
    or (status = 'paid') is distinct from exists (select from transfers t
      where (t.merchant_id, t.tx_reference) = (p.merchant_id, p.tx_reference) and t.refund_reference is null)
  union all
  select refund_reference, state from refunds r
  where not exists (select from transfers t
    where (t.merchant_id, t.refund_reference) = (r.merchant_id, r.refund_reference))`

test('a copy refuses live payments and refunds, and answers status checks from the database', async () => {
  for (const { url } of nodes.values()) {
    const answers = [await requestLive(url, '0244000001'), await refund(url, live.paid.invoice_id)]
    for (const { http, body } of answers) expect([http, body.error.code]).toEqual([503, 'GW-050'])
    expect(await statusOf(url, live.waiting)).toBe('awaiting_payment')
    expect(await statusOf(url, live.paid)).toBe('paid')
    const { http } = await post(url, signedRequest(ama.test))
    expect(http).toBe(200)
  }
})

test('shops, customers and providers receive nothing from a copy', async () => {
  await sleep(quietMs)
  expect(counts()).toEqual(before)
})

const adopt = (what: string) => {
  const place = environment(places.get(what) as Place)
  return tollgateJson(place, 'adopt', '--yes')
}
const readyz = (what: string) => async () => (await send(`${nodes.get(what)?.url}/readyz`)).http
const liveReceived = () => received('/ama').filter(({ body }) => body.includes(live.paid.reference))

test('with TOLLGATE_WORKERS=off an adopted copy takes payments, and does nothing by itself', async () => {
  const { data } = await adopt(withoutWorkers)
  expect(data).toMatchObject({ adopted: true })
  await expect.poll(readyz(withoutWorkers), soon).toBe(200)
  const { url } = nodes.get(withoutWorkers) as GatewayProcess
  expect((await send(`${url}/readyz`)).text).toBe('ready: web')
  const declined = await requestLive(url, '0244000003')
  expect(declined.http).toBe(200)
  await sleep(quietMs)
  const orders = mtn.asked.slice(before.provider).map(({ method, path }) => `${method} ${path}`)
  expect(orders.filter(order => !order.includes('token'))).toEqual(['POST /collection/v1_0/requesttopay'])
  expect(counts()).toMatchObject({ shop: before.shop, sms: before.sms })
  expect(await statusOf(url, live.waiting)).toBe('awaiting_payment')
})

test('an adopted copy sends what is due under the ids of the original, and takes payments', async () => {
  shop.answerWith((_request, response) => void response.end('ok'))
  sms.answerWith((_request, response) => void response.end('ok'))
  const ids = new Set(liveReceived().map(({ id }) => id))
  before = counts()
  const { data } = await adopt(intoDatabase)
  const { backlog } = data
  for (const kind of ['deliveries', 'messages', 'attempts', 'refunds', 'expiring'])
    expect([kind, backlog[kind] > 0]).toEqual([kind, true])
  await expect.poll(readyz(intoDatabase), soon).toBe(200)
  const more = () => {
    const now = counts()
    return [now.shop > before.shop, now.sms > before.sms, now.provider > before.provider]
  }
  await expect.poll(more, soon).toEqual([true, true, true])
  await expect.poll(() => liveReceived().length, soon).toBeGreaterThan(ids.size)
  expect(new Set(liveReceived().map(({ id }) => id))).toEqual(ids)
  const { url } = nodes.get(intoDatabase) as GatewayProcess
  expect((await requestLive(url, '0244000001')).http).toBe(200)
  for (const what of places.keys())
    if (what !== intoDatabase && what !== withoutWorkers)
      expect([what, await readyz(what)()]).toEqual([what, 503])
})
