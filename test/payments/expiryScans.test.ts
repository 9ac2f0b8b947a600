import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createExpiry } from '../../src/actions/payments/expire.ts'
import { expireNow } from '../../src/actions/testing/clock.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { insertAttempts } from '../../src/store/payments/attempts.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, anAttempt, hours, minutes, noon, seconds } from '../support/payments/rows.ts'
import { withoutSkipLocked } from '../support/database/withoutSkipLocked.ts'

// A payment whose attempt is unresolved cannot expire. However many of these are overdue, a look does not read them again.
let lives: PaymentDatabase
let db: Db // one connection, whose statistics are flushed before they are read

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = openDb(lives.url, 1)
})
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'], shouldAdvanceTime: true })
  await lives.db.rows(sql`truncate payments, attempts, events, notifications, deliveries, messages, tasks`)
})
afterEach(() => void vi.useRealTimers())
afterAll(async () => {
  await db.end()
  await lives.close()
})

const later = after(hours(2))
const fail = ({ error }: { error: unknown }) => {
  throw error
}

async function addUnresolved(count: number, expiresMs: () => number) {
  const payments = await lives.addPayments(count, noon, expiresMs)
  const attempts = payments.map(({ merchant_id, tx_reference }) =>
    anAttempt({ merchant_id, tx_reference, attempt_id: `a-${tx_reference}`, state: 'pending' }),
  )
  await lives.db.rows(insertAttempts(attempts))
  await lives.db.rows(sql`analyze payments, attempts`)
  return payments
}

const rowsRead = async () => {
  await db.rows(sql`select pg_stat_force_next_flush()`)
  const row = await db.one<{ read: bigint }>(sql`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as read
    from pg_stat_user_tables where relname in ('payments', 'attempts')`)
  return Number(row?.read)
}
async function readBy(look: () => Promise<unknown>) {
  const before = await rowsRead()
  await look()
  return (await rowsRead()) - before
}

const statusOf = async ({ tx_reference }: Payment) => (await lives.read([tx_reference]))[0]?.payment.status
// The customer has given the attempt up, so that its end leaves the payment open.
const endAttempt = ({ tx_reference }: Payment) =>
  lives.db.rows(sql`update attempts set state = 'failed', reason = 'withdrawn', gave_up_at = ${noon},
    next_poll_at = null where tx_reference = ${tx_reference}`)

test('2,000 overdue payments with unresolved attempts are read once a minute, not at each look', async () => {
  let age = 0
  await addUnresolved(2000, () => minutes(10) + age++)
  const expire = createExpiry(db, fail)
  expect(await readBy(() => expire(later))).toBeGreaterThanOrEqual(2000)
  for (const second of [1, 2, 3])
    expect(await readBy(() => expire(after(seconds(second), later)))).toBeLessThan(20)
  vi.advanceTimersByTime(minutes(1))
  expect(await readBy(() => expire(after(minutes(1), later)))).toBeGreaterThanOrEqual(2000)
  expect(await readBy(() => expire(after(minutes(1.1), later)))).toBeLessThan(20)
})

test('a payment that expires after the last look ends at the next', async () => {
  await addUnresolved(20, () => minutes(10))
  const [next] = (await lives.addPayments(1, noon, () => hours(2) + seconds(1))) as [Payment]
  const expire = createExpiry(db, fail)
  expect(await expire(later)).toBe(0)
  expect(await expire(after(seconds(1), later))).toBe(1)
  expect(await statusOf(next)).toBe('failed')
})

test('a test payment whose expiry is moved while a look runs ends at the next', async () => {
  const expire = createExpiry(db, fail)
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment was stored')
  expect(await expire(after(1))).toBe(0)
  await expireNow(lives.db, payment, noon) // decided before the look, and committed after it
  expect(await expire(after(seconds(3)))).toBe(1)
})

test('a payment whose attempt ends after it has expired ends within a minute', async () => {
  const [payment] = (await addUnresolved(20, () => minutes(10))) as [Payment]
  const expire = createExpiry(db, fail)
  expect(await expire(later)).toBe(0)
  await endAttempt(payment)
  vi.advanceTimersByTime(minutes(1))
  expect(await expire(after(minutes(1), later))).toBe(1)
  expect(await statusOf(payment)).toBe('failed')
})

for (const [name, open] of [
  ['skips', () => db],
  ['refuses to skip', () => withoutSkipLocked(db).db],
] as const)
  for (const [words, expiresMs] of [
    ['different times', (at: number) => minutes(10) + at],
    ['one time', () => minutes(10)],
  ] as const)
    test(`1,200 of ${words} among as many that cannot end are ended, on a database that ${name}`, async () => {
      let age = 0
      const stuck = await addUnresolved(1200, () => expiresMs(age++))
      age = 0
      await lives.addPayments(1200, noon, () => expiresMs(age++))
      const expire = createExpiry(open(), fail)
      const ended: number[] = []
      do ended.push(await expire(later))
      while (ended.at(-1) !== 0)
      expect(ended.reduce((sum, one) => sum + one)).toBe(1200)
      const left = await lives.db.rows(sql`select from payments where status = 'awaiting_payment'`)
      expect(left).toHaveLength(stuck.length)
    })

test('a look that fails is repeated from where it began', async () => {
  const payments = await lives.addPayments(3, noon, () => minutes(10))
  let isBroken = true
  const breaking: Db = {
    ...db,
    transaction: work => (isBroken ? Promise.reject(new Error('broken')) : db.transaction(work)),
    rows: query => (isBroken ? Promise.reject(new Error('broken')) : db.rows(query)),
  }
  const expire = createExpiry(breaking, () => {})
  await expect(expire(later)).rejects.toThrow('broken')
  isBroken = false
  expect(await expire(later)).toBe(payments.length)
})
