import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { forgetOldTries } from '../../../src/workers/deliveries/worker.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, noon } from '../../support/payments/rows.ts'

const ever = 30_000 // deliveries that were made, and whose tries were forgotten long ago
const days = (count: number) => hours(24 * count)
const old = after(-days(31))

let lives: PaymentDatabase
let db: Db
beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
})
beforeEach(async () => {
  await db.rows(sql`truncate deliveries, tries`)
  await addDeliveries(1, ever, after(-days(300)))
  await db.rows(sql`update deliveries set last_try = null, last_words = null, last_answer = null`)
})
afterAll(() => lives.close())

const addDeliveries = (from: number, to: number, at: Date) =>
  db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries,
      last_try, last_try_at, last_ms, last_status, last_result, last_words, last_answer, acknowledged_at)
    select 'm', 'TG-' || n, 1, 'test', 'https://shop.example/ipn', 'https://shop.example', 'post', ${at}, ${at}, 2,
      2, ${at}, 12, 200, 'acknowledged', '', 'ok', ${at}
    from generate_series(${from}::integer, ${to}::integer) n`)

// Many rows whose times are spread between `from` and `to`, all over the table.
const addTries = (count: number, from: Date, to: Date) =>
  db.rows(sql`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, result, answer)
    select 'm', 'TG-' || n, 1, 1, ${from}::timestamptz + (n * 7919 % ${count}::integer)
        * (${to}::timestamptz - ${from}::timestamptz) / ${count}::integer, 12, 'refused', 'no'
    from generate_series(1, ${count}::integer) n`)

// The rows of a table that this connection has read so far.
const readOf = async (tx: Tx, table: string) =>
  (
    await tx.one<{ read: number }>(sql`
      select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_xact_user_tables
      where relname = ${table}`)
  )?.read ?? 0

const forgetReading = (table: string) =>
  db.transaction(async tx => {
    const before = await readOf(tx, table)
    const forgotten = await forgetOldTries(tx as Db, noon)
    return { forgotten, read: (await readOf(tx, table)) - before }
  })

test('last tries are removed without reading rows whose tries were removed before', async () => {
  await addDeliveries(ever + 1, ever + 10, old)
  await addDeliveries(ever + 11, ever + 20, after(-days(29)))
  await db.rows(sql`analyze deliveries`)
  const { forgotten, read } = await forgetReading('deliveries')
  expect(forgotten).toBe(10)
  expect(read).toBeLessThanOrEqual(3 * 10)
  const kept = await db.rows(sql`select from deliveries where last_try is not null`)
  expect(kept).toHaveLength(10)
})

test('earlier tries are removed without reading those that are kept', async () => {
  await addTries(ever, after(-days(29)), noon)
  await db.rows(
    sql`update tries set started_at = ${old} where tx_reference in ('TG-7', 'TG-1500', 'TG-2900')`,
  )
  await db.rows(sql`analyze tries`)
  const { forgotten, read } = await forgetReading('tries')
  expect(forgotten).toBe(3)
  expect(read).toBeLessThanOrEqual(3 * 3)
})
