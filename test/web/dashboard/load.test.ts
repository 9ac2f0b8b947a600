import { afterAll, beforeAll, expect, test } from 'vitest'
import { Unavailable } from '../../../src/core/interface/refusal.ts'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { paymentsCsv } from '../../../src/actions/dashboard/exportPayments.ts'
import { readListFilter } from '../../../src/core/payment/listFilter.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let isOverloaded = false
let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
beforeAll(async () => {
  gateway = await testGateway({}, { isOverloaded: () => isOverloaded })
  merchant = await gateway.addMerchant()
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
})
afterAll(() => gateway.stop())

const pay = () => post(gateway.url, signedRequest(merchant.test))

test('a flood of slow pages of the dashboard and its sign-in refuses no payment', async () => {
  let answers: Promise<Response[]> | undefined
  const payments: number[] = []
  await gateway.db.transaction(async tx => {
    await tx.rows(sql`lock table memberships, users in access exclusive mode`)
    const pages = Array.from({ length: 40 }, (_, n) =>
      n % 2
        ? owner.get('/dashboard/account')
        : fetch(`${gateway.url}/dashboard/sign-in`, { redirect: 'manual' }),
    )
    answers = Promise.all(pages)
    for (let n = 0; n < 8; n++) payments.push((await pay()).http)
  })
  expect(payments).toEqual(Array(8).fill(200))
  const statuses = (await answers)?.map(({ status }) => status) ?? []
  expect(statuses.filter(status => ![200, 303, 503].includes(status))).toEqual([])
  expect((await owner.get('/dashboard/account')).status).toBe(200)
})

test('more pages at once than the dashboard takes are refused, and payments go on', async () => {
  let answers: Promise<Response[]> | undefined
  let paid = 0
  await gateway.db.transaction(async tx => {
    await tx.rows(sql`lock table memberships in access exclusive mode`)
    answers = Promise.all(Array.from({ length: 150 }, () => owner.get('/dashboard/account')))
    paid = (await pay()).http
  })
  expect(paid).toBe(200)
  const refused = (await answers)?.filter(({ status }) => status === 503) ?? []
  expect(refused.length).toBeGreaterThanOrEqual(50)
  expect(refused[0]?.headers.get('retry-after')).toBe('5')
})

test('under overload the dashboard is refused first, and requests and checkouts are served', async () => {
  const { body } = await pay()
  isOverloaded = true
  try {
    for (const path of ['/dashboard', '/dashboard/account', '/dashboard/sign-in']) {
      const answer = await owner.get(path)
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '5'])
    }
    expect((await send(body.checkout_url)).http).toBe(200)
    expect((await pay()).http).toBe(200)
  } finally {
    isOverloaded = false
  }
  expect((await owner.get('/dashboard/account')).status).toBe(200)
})

test('a file of payments goes on under overload, because proxies close a silent connection', async () => {
  await pay()
  const filter = readListFilter(() => [])
  const { merchant_id } = merchant
  const list = { merchant_id, mode: 'test', filter, timeZone: 'UTC', now: new Date() } as const
  const options = { isMasked: true, outlets: new Map(), isOverloaded: () => true, maxPausedMs: 300 }
  const started = performance.now()
  let parts = 0
  for await (const part of paymentsCsv(gateway.db, list, options)) if (part !== '') parts++
  expect(parts).toBe(2) // the header and the payments
  expect(performance.now() - started).toBeGreaterThan(200)
})

test('a statement of the dashboard has a shorter limit than one of a payment, and is not repeated after it', async () => {
  const own = gateway.db.withQuota('dashboard')
  const limit = sql`select current_setting('statement_timeout') as limit`
  const limits = [
    await own.one(limit),
    await own.transaction(tx => tx.one(limit)),
    await gateway.db.one(limit), // of the same sessions
    await gateway.db.transaction(tx => tx.one(limit)),
  ]
  expect(limits).toEqual(['5s', '5s', '8s', '8s'].map(one => ({ limit: one })))
  const slow = () =>
    gateway.db.rows<{ cancelled: boolean }>(sql`
      select pg_cancel_backend(pid) as cancelled from pg_stat_activity
      where datname = current_database() and query like 'select pg_sleep(20)%' and state = 'active'`)
  const ended = own.rows(sql`select pg_sleep(20)`).catch((error: unknown) => error)
  await expect.poll(slow).toEqual([{ cancelled: true }])
  expect(await ended).toBeInstanceOf(Unavailable)
  expect(await slow()).toEqual([])
})

test('downloads whose readers stop or leave hold no connection, and pages and payments go on', async () => {
  const { merchant_id } = merchant
  await gateway.db.rows(sql`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, description,
      request_digest, created_at, updated_at, expires_at)
    select ${merchant_id}, 'TG-000000-000000-' || lpad(n::text, 6, '0'), 'test', 'CSV-' || n, 'csv' || n, 'paid', 100, 'GHS',
      repeat('x', 3000), '', now(), now(), now() from generate_series(1, 5000) n`)
  const address = `/dashboard/m/${merchant_id}/test/payments.csv`
  const downloads = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { body } = await owner.get(address)
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      expect((await reader.read()).done).toBe(false)
      return reader
    }),
  )
  const working = async () =>
    (
      await gateway.db.rows(sql`
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and query like '%payments%'`)
    ).length
  await expect.poll(working).toBe(0)
  expect((await owner.get(`/dashboard/m/${merchant_id}/test/payments`)).status).toBe(200)
  expect((await pay()).http).toBe(200)
  await Promise.all(downloads.slice(1).map(reader => reader.cancel()))
  let bytes = 0
  for (let part = await downloads[0]?.read(); part && !part.done; part = await downloads[0]?.read())
    bytes += part.value.length
  expect(bytes).toBeGreaterThan(14_000_000)
  await expect.poll(working).toBe(0)
  expect((await owner.get('/dashboard/account')).status).toBe(200)
})
