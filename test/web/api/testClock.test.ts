import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../../support/merchant/receiver.ts'
import { advance, nowSeconds, postJson, signedFields, trigger } from '../../support/merchant/testTools.ts'

vi.setConfig({ testTimeout: 60_000 })

let gateway: TestGateway
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

const statusOf = async ({ test: { merchant_key } }: TestMerchant, invoice_id: string) =>
  (await checkStatus(gateway.url, { merchant_key, invoice_id })).body

const deliveryOf = (tx_reference: string) =>
  gateway.db.one<{ tries: number; exhausted_at: Date | null; next_try_at: Date | null; begun_at: Date }>(
    sql`select * from deliveries where tx_reference = ${tx_reference}`,
  )

const soon = { timeout: 5000, interval: 50 }

test('a payment expires, and the shop is notified', async () => {
  const shop = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
  const request = signedRequest(shop.test)
  const { body: stored } = await post(gateway.url, request)
  const { http, body } = await advance(gateway.url, shop.test, '24h')
  expect(http).toBe(200)
  expect(body).toEqual({
    success: true,
    advanced_seconds: 86_400,
    moved: { payments: 1, polls: 0, notifications: 0, messages: 0 },
    in_flight: 0,
    more: false,
    message: 'What is due within this time is due now.',
  })
  await expect
    .poll(async () => (await statusOf(shop, request.invoice_id)).status_reason, soon)
    .toBe('The checkout expired before it was paid.')
  await expect.poll(() => receiver.of(stored.tx_reference).length, soon).toBe(1)
})

test('a payment that is not due within the time only comes nearer', async () => {
  const shop = await gateway.addMerchant()
  const { body } = await post(gateway.url, signedRequest(shop.test))
  const expiry = async () =>
    (
      await gateway.db.one<{ expires_at: Date }>(
        sql`select expires_at from payments where tx_reference = ${body.tx_reference}`,
      )
    )?.expires_at.getTime() ?? 0
  const before = await expiry()
  await advance(gateway.url, shop.test, '90s')
  expect(before - (await expiry())).toBe(90_000)
})

test('a request that nobody answers fails when its time has passed', async () => {
  const shop = await gateway.addMerchant()
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'no_answer' })
  expect((await statusOf(shop, body.invoice_id)).status).toBe('awaiting_payment')
  const moved = await advance(gateway.url, shop.test, '6m')
  expect(moved.body.moved).toEqual({ payments: 1, polls: 1, notifications: 0, messages: 0 })
  await expect
    .poll(async () => (await statusOf(shop, body.invoice_id)).status_reason, soon)
    .toBe('The customer did not approve in time.')
})

test('an attempt that stays unresolved for a day becomes a task', async () => {
  const shop = await gateway.addMerchant()
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'wrong_amount' })
  const tasks = async () =>
    (
      await gateway.db.rows<{ kind: string }>(
        sql`select kind from tasks where tx_reference = ${body.tx_reference} order by kind`,
      )
    ).map(({ kind }) => kind)
  await expect.poll(tasks, soon).toEqual(['amount_mismatch'])
  await advance(gateway.url, shop.test, '24h')
  await expect.poll(tasks, soon).toEqual(['amount_mismatch', 'unresolved'])
})

test('a failed notification is tried again at once, and after a day it is given up', async () => {
  receiver.answerWith((_, response) => void response.writeHead(500).end())
  const shop = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'cancelled' })
  const { tx_reference } = body
  const triesAre = (tries: number) =>
    expect
      .poll(async () => {
        const delivery = await deliveryOf(tx_reference)
        const left = delivery?.next_try_at && delivery.next_try_at.getTime() > Date.now()
        return { tries: delivery?.tries, isPlanned: Boolean(left) || delivery?.exhausted_at !== null }
      }, soon)
      .toEqual({ tries, isPlanned: true })
  await triesAre(1)
  await advance(gateway.url, shop.test, '15s')
  await triesAre(2)
  await advance(gateway.url, shop.test, '40s')
  await triesAre(3)
  expect((await deliveryOf(tx_reference))?.exhausted_at).toBeNull()
  await advance(gateway.url, shop.test, '24h')
  await expect.poll(async () => (await deliveryOf(tx_reference))?.exhausted_at, soon).toBeInstanceOf(Date)
  expect((await deliveryOf(tx_reference))?.tries).toBe(4)
  expect(receiver.of(tx_reference)).toHaveLength(4)
  receiver.answerWith((_, response) => void response.end('ok'))
})

test('a notification in flight is not sent twice, and its schedule ends earlier', async () => {
  const held: (() => void)[] = []
  receiver.answerWith((_, response) => void held.push(() => response.writeHead(500).end()))
  const shop = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'cancelled' })
  const { tx_reference } = body
  await expect.poll(() => held.length, soon).toBe(1)
  const before = await deliveryOf(tx_reference)
  const { body: moved } = await advance(gateway.url, shop.test, '24h')
  expect(moved.moved.notifications).toBe(1)
  const after = await deliveryOf(tx_reference)
  expect(after).toEqual({ ...before, begun_at: new Date((before?.begun_at.getTime() ?? 0) - 86_400_000) })
  await new Promise(done => setTimeout(done, 1000))
  expect(receiver.of(tx_reference)).toHaveLength(1)
  held[0]?.()
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(2)
  held[1]?.()
  await expect.poll(async () => (await deliveryOf(tx_reference))?.exhausted_at, soon).toBeInstanceOf(Date)
  receiver.answerWith((_, response) => void response.end('ok'))
})

const tables = ['payments', 'attempts', 'deliveries', 'messages'] as const

const rowsOf = async (condition: ReturnType<typeof sql>) =>
  Object.fromEntries(
    await Promise.all(
      tables.map(async table => [
        table,
        await gateway.db.rows(
          sql`select to_jsonb(t) as row from ${sql([table])} t where ${condition} order by to_jsonb(t)::text`,
        ),
      ]),
    ),
  )

// Copies the rows of a test payment as those of a live one of the same merchant.
async function copyAsLive(tx_reference: string) {
  const changes = JSON.stringify({
    mode: 'live',
    tx_reference: 'TG-LIVE00-000000-000000',
    tx_token: 'x'.repeat(42),
    attempt_id: 'live-attempt',
    message_id: 'live-message',
  })
  for (const table of tables)
    await gateway.db.rows(sql`
      insert into ${sql([table])} select (jsonb_populate_record(null::${sql([table])}, to_jsonb(t) || ${changes}::jsonb)).*
      from ${sql([table])} t where t.tx_reference = ${tx_reference}`)
}

test('live rows and those of other merchants never change', async () => {
  const shop = await gateway.addMerchant()
  const other = await gateway.addMerchant()
  await post(gateway.url, signedRequest(other.test))
  const { body } = await trigger(gateway.url, shop.test, {
    outcome: 'no_answer',
    number: '0241234567',
    email: 'ama@mail.example',
  })
  const { tx_reference } = body
  const { merchant_id } = shop
  const far = new Date(Date.now() + 3_600_000)
  // The rest of a whole payment: a delivery and a message that wait for their next try.
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries, retry,
      next_try_at)
    values (${merchant_id}, ${tx_reference}, 1, 'test', 'http://127.0.0.1:9/', 'configured', 'post', now(), now(), 1, true, ${far})`)
  await gateway.db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, created_at, tries,
      next_try_at)
    values (${merchant_id}, 'test-message', 'test', 'email', 'failed', 'ama@mail.example', 'en', ${tx_reference}, now(), 1, ${far})`)
  await gateway.db.rows(sql`update attempts set next_poll_at = ${far} where tx_reference = ${tx_reference}`)
  await copyAsLive(tx_reference)
  const live = await rowsOf(sql`merchant_id = ${merchant_id} and mode = 'live'`)
  for (const table of tables) expect(live[table]).toHaveLength(1)
  const others = await rowsOf(sql`merchant_id = ${other.merchant_id}`)
  const { body: moved } = await advance(gateway.url, shop.test, '30d')
  expect(moved.moved).toEqual({ payments: 1, polls: 1, notifications: 1, messages: 1 })
  await expect.poll(async () => (await statusOf(shop, body.invoice_id)).status, soon).toBe('failed')
  expect(await rowsOf(sql`merchant_id = ${merchant_id} and mode = 'live'`)).toEqual(live)
  expect(await rowsOf(sql`merchant_id = ${other.merchant_id}`)).toEqual(others)
})

test('an attempt that a provider is being called for is left out, and counted', async () => {
  const shop = await gateway.addMerchant()
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'no_answer' })
  const { tx_reference } = body
  await gateway.db.rows(sql`update attempts set next_poll_at = now() + interval '40 s', lease_until = now() + interval '40 s'
    where tx_reference = ${tx_reference}`)
  const row = () => gateway.db.one(sql`select * from attempts where tx_reference = ${tx_reference}`)
  const before = await row()
  const { body: moved } = await advance(gateway.url, shop.test, '24h')
  expect(moved).toMatchObject({ in_flight: 1, moved: { payments: 1, polls: 0 } })
  expect(await row()).toEqual(before)
  await gateway.db.rows(sql`update attempts set lease_until = null where tx_reference = ${tx_reference}`)
  expect((await advance(gateway.url, shop.test, '24h')).body).toMatchObject({
    in_flight: 0,
    moved: { polls: 1 },
  })
  await expect.poll(async () => (await statusOf(shop, body.invoice_id)).status, soon).toBe('failed')
})

test('many payments are moved in several requests, each of them once', async () => {
  const shop = await gateway.addMerchant()
  const { body: first } = await post(gateway.url, signedRequest(shop.test, { invoice_id: 'A-0' }))
  await gateway.db.rows(sql`
    insert into payments select copy.* from payments p, generate_series(1, 1499) n,
      jsonb_populate_record(p, jsonb_build_object('invoice_id', 'A-' || n, 'tx_reference', 'TG-MANY00-000000-' || n,
        'tx_token', 'many' || n)) as copy
    where p.tx_reference = ${first.tx_reference}`)
  const one = await advance(gateway.url, shop.test, '60s')
  expect(one.body).toMatchObject({ more: true, moved: { payments: 1000 } })
  expect(one.body.next).toBeTypeOf('string')
  const two = await advance(gateway.url, shop.test, '60s', { after: one.body.next })
  expect(two.body).toMatchObject({ more: false, moved: { payments: 500 } })
  const expiries = sql`select distinct expires_at from payments where merchant_id = ${shop.merchant_id}`
  expect(await gateway.db.rows(expiries)).toHaveLength(1)
})

for (const [what, fieldsOf, http, code, field] of [
  ['a huge advance', { advance: '31d' }, 400, 'GW-012', 'advance'],
  ['an advance without a unit', { advance: '24' }, 400, 'GW-012', 'advance'],
  ['no advance', {}, 400, 'GW-012', 'advance'],
  ['a stale time', { advance: '24h', time: nowSeconds() - 3600 }, 401, 'GW-010', 'time'],
  ['an unknown field', { advance: '24h', minutes: '5' }, 400, 'GW-012', 'minutes'],
] as [string, Record<string, string | number>, number, string, string][])
  test(`${what} is refused with ${code} and the field ${field}`, async () => {
    const shop = await gateway.addMerchant()
    const answer = await postJson(`${gateway.url}/v1/test/clock`, signedFields(shop.test, fieldsOf))
    expect(answer).toMatchObject({ http, body: { success: false, error: { code, field } } })
  })

test('a live key and a forged hash are refused', async () => {
  const shop = await gateway.addMerchant()
  expect(await advance(gateway.url, shop.live, '24h')).toMatchObject({
    http: 403,
    body: { error: { code: 'GW-015', field: 'merchant_key' } },
  })
  const forged = { ...signedFields(shop.test, { advance: '1h' }), advance: '24h' }
  expect(await postJson(`${gateway.url}/v1/test/clock`, forged)).toMatchObject({
    http: 401,
    body: { error: { code: 'GW-010', field: 'secure_hash' } },
  })
})
