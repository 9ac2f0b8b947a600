import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { redeliver, redeliverAll } from '../../../src/actions/notifications/redeliver.ts'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, noon, seconds, yes } from '../../support/payments/rows.ts'
import { destination, storeNotification } from '../../support/deliveries/notifications.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
let merchant_id: string
const now = new Date()

beforeAll(async () => {
  shop = await openShop()
})
beforeEach(async () => {
  merchant = await shop.addMerchant()
  merchant_id = merchant.merchant_id
})
afterAll(() => shop.stop())

const done = { redelivered: 0, being_sent: 0, no_address: 0, left_out: 0 }
const range = { from: after(-hours(1)), until: after(hours(1)), state: 'exhausted' as const }

const find = ({ tx_reference, sequence }: Omit<NotificationKey, 'merchant_id'>) =>
  shop.db.one<Delivery>(sql`
    select * from deliveries where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and sequence = ${sequence}`)

const exhaust = (key: NotificationKey) =>
  shop.db.rows(sql`
    update deliveries set tries = 16, retry = false, next_try_at = null, last_result = 'timeout',
      exhausted_at = ${after(hours(24))}, lease_token = 'old', lease_until = ${after(hours(24))}
    where merchant_id = ${key.merchant_id} and tx_reference = ${key.tx_reference}`)

const acknowledge = (key: NotificationKey) =>
  shop.db.rows(sql`
    update deliveries set tries = 1, next_try_at = null, last_result = 'acknowledged', acknowledged_at = ${noon}
    where merchant_id = ${key.merchant_id} and tx_reference = ${key.tx_reference}`)

const sent = (created_at = noon) => storeNotification(shop.db, { merchant_id, created_at }, destination)

test('an unknown notification', async () => {
  expect(await redeliver(shop.db, { merchant_id, tx_reference: 'TG-NONE', sequence: 1 }, now)).toBeUndefined()
})

for (const [name, end] of [
  ['exhausted', exhaust],
  ['acknowledged', acknowledge],
] as const)
  test(`one that is ${name} begins again, with the same bytes, and its tries continue to count`, async () => {
    const told = await sent()
    await end(told)
    const before = await find(told)
    expect(await redeliver(shop.db, told, now)).toEqual({ ...done, redelivered: 1 })
    expect(await find(told)).toEqual({
      ...before,
      lane: 'test/shared-1/https://shop.example:443', // a version before this one had stored another
      begun_at: now,
      next_try_at: now,
      retry: false,
      parked: false,
      lease_token: null,
      lease_until: null,
      acknowledged_at: null,
      exhausted_at: null,
    })
    expect(
      await shop.db.one(sql`select body from notifications where tx_reference = ${told.tx_reference}`),
    ).toEqual({
      body: told.body,
    })
  })

test('run again after a lost commit, the result is the same', async () => {
  const told = await sent()
  await exhaust(told)
  await redeliver(shop.db, told, now)
  const once = await find(told)
  expect(await redeliver(shop.db, told, now)).toEqual({ ...done, redelivered: 1 })
  expect(await find(told)).toEqual(once)
})

test('one in flight is not changed', async () => {
  const told = await sent()
  await shop.db.rows(sql`
    update deliveries set lease_token = 'x', lease_until = ${after(seconds(5), now)}
    where tx_reference = ${told.tx_reference}`)
  const before = await find(told)
  expect(await redeliver(shop.db, told, now)).toEqual({ ...done, being_sent: 1 })
  expect(await find(told)).toEqual(before)
})

test('it is sent to the current address, because the former setting may have been wrong', async () => {
  const told = await sent()
  await setMerchant(shop.db, merchant_id, ['ipn_url=http://new.example:8080/ipn'])
  await redeliver(shop.db, told, now)
  expect(await find(told)).toMatchObject({
    url: 'http://new.example:8080/ipn',
    lane: expect.stringMatching(/^test\/configured\/http:\/\/new\.example:8080\/[0-9a-f]{24}$/),
  })
})

test('the address of the request outranks the setting', async () => {
  const payment = await shop.ask(merchant, { ipn_url: 'https://own.example/ipn' })
  await shop.try(payment, no)
  await setMerchant(shop.db, merchant_id, ['ipn_url=https://new.example/ipn'])
  const key = { ...payment, sequence: 1 }
  expect(await redeliver(shop.db, key, now)).toEqual({ ...done, redelivered: 1 })
  expect(await find(key)).toMatchObject({ url: 'https://own.example/ipn' })
})

test('one without a delivery is sent as soon as there is an address', async () => {
  const payment = await shop.ask(merchant)
  await shop.try(payment, yes)
  const key = { ...payment, sequence: 1 }
  expect(await redeliver(shop.db, key, now)).toEqual({ ...done, no_address: 1 })
  expect(await find(key)).toBeUndefined()
  await setMerchant(shop.db, merchant_id, ['ipn_url=https://shop.example/ipn'])
  expect(await redeliver(shop.db, key, now)).toEqual({ ...done, redelivered: 1 })
  expect(await find(key)).toMatchObject({
    mode: 'live',
    url: 'https://shop.example/ipn',
    lane: expect.stringMatching(/^live\/configured\/https:\/\/shop\.example:443\/[0-9a-f]{24}$/),
    style: 'post',
    begun_at: now,
    next_try_at: now,
    tries: 0,
  })
})

for (const [when, style, becomes] of [
  ['post', 'post', 'post'],
  ['post', 'get', 'get'],
  ['post', 'basic', 'post'], // its amount is a number, which such a client does not read
  ['basic', 'basic', 'basic'],
  ['basic', 'post', 'post'],
])
  test(`written as ${when} without a delivery, it is sent as ${becomes} if the style is ${style}`, async () => {
    await setMerchant(shop.db, merchant_id, [`ipn_style=${when}`, 'allowed_origins=https://shop.example'])
    const payment = await shop.ask(merchant)
    await shop.try(payment, yes)
    await setMerchant(shop.db, merchant_id, [`ipn_style=${style}`, 'ipn_url=https://shop.example/ipn'])
    await redeliver(shop.db, { ...payment, sequence: 1 }, now)
    expect(await find({ ...payment, sequence: 1 })).toMatchObject({ style: becomes })
  })

test('style basic leaves out awaiting_payment, also in a redelivery', async () => {
  await setMerchant(shop.db, merchant_id, ['ipn_style=basic', 'ipn_url=https://shop.example/ipn'])
  const told = await storeNotification(shop.db, { merchant_id, status: 'awaiting_payment' })
  expect(await redeliver(shop.db, told, now)).toEqual({ ...done, left_out: 1 })
})

test('a time range: only the exhausted ones, or all', async () => {
  const [early, gone, read, due, late] = [
    await sent(after(-hours(1) - 1)),
    await sent(after(-hours(1))),
    await sent(),
    await sent(),
    await sent(after(hours(1))),
  ]
  for (const told of [early, gone, late]) await exhaust(told)
  await acknowledge(read)
  const other = await shop.addMerchant()
  await exhaust(
    await storeNotification(shop.db, { merchant_id: other.merchant_id, created_at: noon }, destination),
  )
  const again = async () => {
    const rows = await Promise.all([early, gone, read, due, late].map(find))
    return rows.map(row => row?.begun_at.getTime() === now.getTime())
  }
  expect(await redeliverAll(shop.db, { merchant_id, ...range }, now)).toEqual({ ...done, redelivered: 1 })
  expect(await again()).toEqual([false, true, false, false, false])
  expect(await redeliverAll(shop.db, { merchant_id, ...range, state: 'acknowledged' }, now)).toEqual({
    ...done,
    redelivered: 1,
  })
  expect(await again()).toEqual([false, true, true, false, false])
  await storeNotification(shop.db, { merchant_id, created_at: noon })
  expect(await redeliverAll(shop.db, { merchant_id, ...range, state: 'all' }, now)).toEqual({
    ...done,
    redelivered: 3,
    no_address: 1,
  })
  expect(await again()).toEqual([false, true, true, true, false])
})

test('a large time range is processed in pages: each notification once, also those of the same moment', async () => {
  await shop.db.rows(sql`
    insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
    select ${merchant_id}, 'TG-' || n, 1, 'test', 'paid', '{}', ${noon}::timestamptz + (n / 700) * interval '1 minute'
    from generate_series(1, 5000) as n`)
  await shop.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      exhausted_at, lease_until)
    select merchant_id, tx_reference, 1, mode, 'https://shop.example/', 'https://shop.example:443', 'post', created_at,
      created_at, created_at, case when tx_reference like '%77' then ${after(minutes(1), now)}::timestamptz end
    from notifications where merchant_id = ${merchant_id}`)
  const found = await redeliverAll(shop.db, { merchant_id, ...range }, now)
  expect(found).toEqual({ ...done, redelivered: 4950, being_sent: 50 })
})
