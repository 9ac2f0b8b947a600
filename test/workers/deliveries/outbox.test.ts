import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import { laneOf } from '../../../src/core/notification/lane.ts'
import type { Notification } from '../../../src/core/notification/notification.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { sql } from '../../../src/store/db.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import { Dispatcher } from '../../../src/workers/deliveries/dispatcher.ts'
import { createSignerCache } from '../../../src/workers/deliveries/signerCache.ts'
import { query } from '../../support/database/database.ts'
import { after, hours, no, noon, pending, seconds, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { random } from '../../support/random.ts'
import { fakeOutbound, respond } from './answers.ts'
import { dispatchAll } from './fixture.ts'

let shop: TestShop
let now = noon
beforeAll(async () => {
  shop = await openShop()
  pass(0)
})
afterAll(() => shop.stop())

function pass(ms: number) {
  now = after(ms, now)
  shop.setNow(now)
}

const clock = () => now

const url = 'https://shop.example/ipn'

const rowsOf = async ({ tx_reference }: Payment) => ({
  notifications: await shop.db.rows<Notification>(
    sql`select * from notifications where tx_reference = ${tx_reference} order by sequence`,
  ),
  deliveries: await shop.db.rows<Delivery>(
    sql`select * from deliveries where tx_reference = ${tx_reference} order by sequence`,
  ),
})

// A customer whose first attempt fails, and whose second is paid.
async function liveALittle(payment: Payment) {
  await shop.try(payment, no)
  pass(seconds(5))
  await shop.try(payment, pending)
  pass(seconds(5))
  return shop.hear(payment, yes)
}
const changes = ['failed', 'awaiting_payment', 'paid']

for (const table of ['payments', 'events', 'notifications', 'deliveries'])
  test(`a change that cannot be written to ${table} writes nothing`, async () => {
    const payment = await shop.ask(await shop.addMerchant(), { ipn_url: url })
    await query(
      shop.url,
      `create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused by the test'; end $$`,
    )
    await query(
      shop.url,
      `create trigger refuse before insert or update on ${table} for each row
      execute function refuse()`,
    )
    await expect(cancel(shop.runtime, payment, now)).rejects.toThrow('refused by the test')
    await query(shop.url, `drop trigger refuse on ${table}`)
    expect(await shop.fresh(payment)).toEqual(payment)
    expect(await rowsOf(payment)).toEqual({ notifications: [], deliveries: [] })
    expect(await eventsOf(shop.db, payment.merchant_id, payment.tx_reference)).toEqual([])
    await cancel(shop.runtime, payment, now)
    expect((await rowsOf(payment)).deliveries).toHaveLength(1)
  })

test('a payment that was only requested has no notification', async () => {
  const payment = await shop.ask(await shop.addMerchant(), { ipn_url: url })
  expect(await rowsOf(payment)).toEqual({ notifications: [], deliveries: [] })
})

test('every status change has one notification, and one delivery that is due at once', async () => {
  const payment = await liveALittle(await shop.ask(await shop.addMerchant(), { ipn_url: url }))
  const { notifications, deliveries } = await rowsOf(payment)
  const events = await eventsOf(shop.db, payment.merchant_id, payment.tx_reference)
  const changed = events.filter(({ kind }) => kind === 'status_changed')
  expect(notifications.map(({ sequence, status }) => [sequence, status])).toEqual(
    changes.map((status, at) => [at + 1, status]),
  )
  expect(changed.map(({ to_status }) => to_status)).toEqual(changes)
  expect(notifications.map(({ created_at }) => created_at)).toEqual(changed.map(({ at }) => at))
  expect(notifications.map(({ body }) => JSON.parse(body).status)).toEqual(changes)
  expect(deliveries).toMatchObject(
    notifications.map(({ sequence, created_at }) => ({
      sequence,
      url,
      lane: laneOf(url, 'live', { ipn_url: null }),
      mode: 'live',
      style: 'post',
      begun_at: created_at,
      next_try_at: created_at,
      tries: 0,
      retry: false,
      parked: false,
    })),
  )
})

test('the same change twice is one notification', async () => {
  const payment = await liveALittle(await shop.ask(await shop.addMerchant(), { ipn_url: url }))
  await cancel(shop.runtime, payment, now)
  await cancel(shop.runtime, payment, now)
  expect((await rowsOf(payment)).notifications).toHaveLength(3)
})

for (const [why, settings, fields, sent] of [
  ['without an address there are notifications and no deliveries', [], {}, []],
  [
    'style basic leaves out awaiting_payment',
    ['ipn_style=basic', `ipn_url=${url}`],
    { ipn_url: url },
    [1, 3],
  ],
  ['the address of the merchant, if the request has none', [`ipn_url=${url}?default`], {}, [1, 2, 3]],
  ['style get', ['ipn_style=get', `ipn_url=${url}`], {}, [1, 2, 3]],
] as const)
  test(why, async () => {
    const merchant = await shop.addMerchant('Ama Shop', ...settings)
    const { notifications, deliveries } = await rowsOf(await liveALittle(await shop.ask(merchant, fields)))
    expect(notifications.map(({ status }) => status)).toEqual(changes)
    expect(deliveries.map(({ sequence }) => sequence)).toEqual(sent)
  })

test('the address of the request outranks that of the merchant', async () => {
  const merchant = await shop.addMerchant('Ama Shop', 'ipn_url=https://set.example/')
  const payment = await liveALittle(await shop.ask(merchant, { ipn_url: url }))
  expect(new Set((await rowsOf(payment)).deliveries.map(one => one.url))).toEqual(new Set([url]))
})

test('every try sends the same bytes, although the payment changes', async () => {
  const payment = await shop.ask(await shop.addMerchant(), {
    ipn_url: url,
    name: 'Ɛsi "O\'Brien" </script>\u2028 🛒',
    extra_note: '{"status":"paid"}',
  })
  const requests: OutboundRequest[] = []
  const masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
  const dispatcher = new Dispatcher({
    db: shop.db,
    clock,
    signers: createSignerCache(shop.db, masterKeys, clock),
    outbound: fakeOutbound(request => (requests.push(request), respond(404))),
    loopback: () => false,
    random,
    watch: { tried() {}, exhausted() {}, passwordWithheld() {}, trouble() {} },
    wake() {},
  })
  await shop.try(payment, no)
  await dispatchAll(dispatcher)
  await shop.try(payment, pending)
  pass(seconds(60))
  await dispatchAll(dispatcher)
  await shop.hear(payment, yes)
  for (let hour = 0; hour < 6; hour++) {
    pass(hours(1))
    await dispatchAll(dispatcher)
  }
  const { notifications } = await rowsOf(payment)
  for (const { sequence, body, status } of notifications) {
    const own = requests.filter(
      ({ headers }) => headers['webhook-id'] === `${payment.tx_reference}-N${sequence}`,
    )
    expect(own.length).toBeGreaterThan(3)
    expect(new Set(own.map(one => one.body))).toEqual(new Set([body]))
    expect(own.map(({ headers }) => Number(headers['webhook-attempt']))).toEqual(own.map((_, at) => at + 1))
    expect(JSON.parse(body)).toMatchObject({
      status,
      extra: { note: '{"status":"paid"}', name: payment.name },
    })
  }
})
