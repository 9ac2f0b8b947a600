import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createExpiry } from '../../src/actions/payments/expire.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import type { PaymentKey } from '../../src/store/payments/paymentKeys.ts'
import { query } from '../support/database/database.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, hours, minutes, noon } from '../support/payments/rows.ts'
import { destination, storeNotification } from '../support/deliveries/notifications.ts'
import { withoutSkipLocked } from '../support/database/withoutSkipLocked.ts'
import { expireDue } from '../support/payments/expireDue.ts'

// Payments whose time is over end each for itself: what is wrong with one is nothing to the others.
let lives: PaymentDatabase
let holder: Db
let over: Payment[]
beforeAll(async () => {
  lives = await openPaymentDatabase()
  holder = openDb(lives.url, 1)
})
beforeEach(async () => {
  await lives.db.rows(sql`truncate payments, attempts, events, notifications, deliveries, messages, tasks`)
  let age = 0
  over = await lives.addPayments(5, noon, () => minutes(10 + age++))
})
afterAll(async () => {
  await holder.end()
  await lives.close()
})

const later = after(hours(2))
const referenceOf = (at: number) => (over[at] as Payment).tx_reference
const othersThan = (...places: number[]) =>
  over.flatMap((_, at) => (places.includes(at) ? [] : [referenceOf(at)]))

async function ended() {
  const all = await lives.read(over.map(({ tx_reference }) => tx_reference))
  return all.flatMap(({ payment, events }) => {
    expect(events).toHaveLength(payment.status === 'failed' ? 1 : 0)
    return payment.status === 'failed' ? [payment.tx_reference] : []
  })
}

for (const [name, open] of [
  ['skips', () => lives.db],
  ['refuses to skip', () => withoutSkipLocked(lives.db).db],
] as const)
  for (const [age, at] of [
    ['oldest', 0],
    ['middle', 2],
    ['newest', 4],
  ] as const)
    test(`somebody holds the ${age}: the others end, on a database that ${name}`, async () => {
      await holder.transaction(async tx => {
        await tx.rows(sql`
          select from payments where merchant_id = ${lives.merchant_id} and tx_reference = ${referenceOf(at)} for update`)
        expect(await expireDue(open(), later)).toBe(4)
        expect((await ended()).toSorted()).toEqual(othersThan(at).toSorted())
        expect(await expireDue(open(), later)).toBe(0) // and does not ask for more
      })
      expect(await expireDue(open(), later)).toBe(1)
      expect(await ended()).toHaveLength(5)
    })

// As the worker does it, with what it says.
function createWorker(db = lives.db) {
  const told: { error: unknown; payments: readonly PaymentKey[] }[] = []
  const expire = createExpiry(db, one => void told.push(one))
  return { expire, told }
}

for (const [what, spoil] of [
  ['a currency that this version does not know', sql`update payments set currency = 'XAU'`],
  ['an address that is none', sql`update payments set ipn_url = 'nowhere'`],
] as const)
  test(`${what}: it is told of once and left alone, the others end`, async () => {
    await lives.db.rows(sql`${spoil} where tx_reference = ${referenceOf(0)}`)
    const { expire, told } = createWorker()
    expect(await expire(later)).toBe(5)
    expect((await ended()).toSorted()).toEqual(othersThan(0).toSorted())
    expect(told).toMatchObject([{ payments: [{ tx_reference: referenceOf(0) }] }])
    expect(await expire(later)).toBe(0)
    expect(told).toHaveLength(1)
  })

test('more that cannot be read than one look sees: those behind them end', async () => {
  const spoiled = await lives.addPayments(1100, noon, () => minutes(5))
  await lives.db.rows(sql`
    update payments set currency = 'XAU' where expires_at = ${after(minutes(5))}`)
  const { expire, told } = createWorker()
  while ((await expire(later)) > 0);
  expect(await ended()).toHaveLength(5)
  expect(told.flatMap(({ payments }) => payments)).toHaveLength(spoiled.length)
  expect(told.length).toBeLessThan(5) // and not a line for each
})

test('the database refuses one, and does not say which: it is found, the others end', async () => {
  await query(
    lives.url,
    `create function refuse() returns trigger language plpgsql as $$ begin
      if new.tx_reference = '${referenceOf(3)}' then raise exception 'refused by the test'; end if;
      return new; end $$`,
  )
  await query(
    lives.url,
    'create trigger refuse before insert on notifications for each row execute function refuse()',
  )
  const { expire, told } = createWorker()
  expect(await expire(later)).toBe(5)
  await query(lives.url, 'drop function refuse() cascade')
  expect((await ended()).toSorted()).toEqual(othersThan(3).toSorted())
  expect(told).toMatchObject([
    { error: { message: 'refused by the test' }, payments: [{ tx_reference: referenceOf(3) }] },
  ])
})

test('a delivery of one is held: the others end', async () => {
  await lives.db.rows(sql`update payments set ipn_url = 'https://shop.example/ipn'`)
  const { merchant_id } = lives
  const first = { merchant_id, tx_reference: referenceOf(1) }
  await storeNotification(lives.db, first, destination)
  const { expire } = createWorker()
  await holder.transaction(async tx => {
    await tx.rows(sql`select from deliveries where merchant_id = ${merchant_id} for update`)
    await expire(later)
    expect((await ended()).toSorted()).toEqual(othersThan(1).toSorted())
  })
})

test('a database that cannot be reached is no fault of any payment', async () => {
  const gone = openDb('postgres://tollgate@127.0.0.1:1/none', 1)
  const { expire, told } = createWorker(gone)
  await expect(expire(later)).rejects.toThrow('The database is unavailable')
  expect(told).toEqual([])
  await gone.end()
})

test('a setting that cannot be read: its payments end all the same, told by the default', async () => {
  const { db, merchant_id } = lives
  const spoiled = { ipn_style: 'hologram', ipn_url: 'https://shop.example/ipn' }
  await db.rows(
    sql`update merchants set settings = ${JSON.stringify(spoiled)} where merchant_id = ${merchant_id}`,
  )
  const { expire, told } = createWorker()
  expect(await expire(later)).toBe(5)
  await db.rows(sql`update merchants set settings = '{}' where merchant_id = ${merchant_id}`)
  expect([(await ended()).length, told]).toEqual([5, []])
  expect(await db.rows(sql`select distinct style, url from deliveries`)).toEqual([
    { style: 'post', url: 'https://shop.example/ipn' },
  ])
})
