import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { cancel } from '../../src/actions/payments/cancel.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { maxFailures } from '../../src/core/payment/mayStart.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { storePayments } from '../../src/store/payments/payments.ts'
import { lockRows } from '../support/database/lockRows.ts'
import {
  type PaymentDatabase,
  newPayment,
  openPaymentDatabase,
  readPayments,
} from '../support/payments/paymentDatabase.ts'
import { aPayRequest, recordingAccount, simulatedNode } from '../support/payments/simulatedNode.ts'
import { hours, noon, pending } from '../support/payments/rows.ts'
import { withoutSkipLocked } from '../support/database/withoutSkipLocked.ts'

// Decisions about different payments that come together share a transaction. None of them suffers from its neighbours.
let lives: PaymentDatabase
let counted: Db // counts its transactions
let commits = 0
beforeAll(async () => {
  lives = await openPaymentDatabase(8)
  counted = { ...lives.db, withDeadline: () => counting(lives.db), withQuota: () => counting(lives.db) }
})
beforeEach(() => void (commits = 0))
afterAll(() => lives.close())

const counting = (db: Db): Db => ({
  ...db,
  withQuota: () => counting(db),
  withDeadline: () => counting(db),
  transaction(work) {
    commits++
    return db.transaction(work)
  },
})

const paid = ({ attempt_id }: Order, provider_ref = `R-${attempt_id}`): Reply => ({
  state: 'paid',
  order: attempt_id,
  amount: 2500n,
  currency: 'GHS',
  provider_ref,
})

let people = 0
const request = (number = 1) =>
  aPayRequest({ number, address: `192.0.2.${++people % 250}`, input: { phone: `024${1_000_000 + people}` } })
const node = (answer: (order: Order) => Reply, db = counted) =>
  simulatedNode(db, () => noon, recordingAccount(answer))

const payAll = (payments: readonly Payment[], db?: Db) =>
  Promise.all(
    payments.map(payment =>
      pay(
        node(() => pending, db),
        payment,
        request(),
      ),
    ),
  )
const read = (payments: readonly Payment[]) => lives.read(payments.map(({ tx_reference }) => tx_reference))
const byReference = (all: Awaited<ReturnType<typeof read>>, { tx_reference }: Payment) =>
  all.find(({ payment }) => payment.tx_reference === tx_reference)

async function started(count: number) {
  const payments = await lives.addPayments(count, noon)
  await payAll(payments)
  const attempts = (await read(payments)).map(life => life.attempts[0] as Attempt)
  commits = 0
  return { payments, attempts }
}

// What comes to the wrong hands fails, as a row does that nobody can write.
async function poison(tx_reference: string, table: string) {
  await lives.db.rows(
    sql([
      `create or replace function poison_${table}() returns trigger language plpgsql as $$ begin
        if new.tx_reference = '${tx_reference}' then raise exception 'poison'; end if; return new; end $$`,
    ]),
  )
  await lives.db.rows(
    sql([
      `create or replace trigger poison before insert on ${table} for each row execute function poison_${table}()`,
    ]),
  )
}

test('thirty that begin, are resolved and end at once need a few commits', async () => {
  const payments = await lives.addPayments(30, noon)
  const all = node(() => pending)
  const done = await Promise.all(payments.map(payment => pay(all, payment, request())))
  expect(done.map(result => result.done)).toEqual(Array(30).fill('started'))
  expect(commits).toBeLessThan(20)
  const attempts = (await read(payments)).map(life => life.attempts[0] as Attempt)
  const asked = node(order => paid(order))
  await Promise.all(attempts.map(attempt => pollAttempt(asked, attempt)))
  expect((await read(payments)).map(({ payment }) => payment.status)).toEqual(Array(30).fill('paid'))
  const others = await lives.addPayments(30, noon)
  commits = 0
  await Promise.all(others.map(payment => cancel(all, payment, noon)))
  expect(commits).toBeLessThan(10)
  expect((await read(others)).map(({ payment }) => payment.status)).toEqual(Array(30).fill('cancelled'))
})

async function addShops(ids: readonly string[]) {
  for (const id of ids)
    await lives.db.rows(sql`insert into merchants select (m).* from (select jsonb_populate_record(m,
      jsonb_build_object('merchant_id', ${id}::text)) as m from merchants m
      where merchant_id = ${lives.merchant_id}) as copied`)
  return ids
}

test('payments of several merchants are locked by one statement', async () => {
  const shops = await addShops(['one_of_1', 'one_of_2', 'one_of_3'])
  const payments = shops.flatMap(id => Array.from({ length: 4 }, () => newPayment(id, noon, hours(1))))
  await storePayments(lives.db, payments)
  const locks: string[] = []
  const watched = counting({
    ...lives.db,
    transaction: work =>
      lives.db.transaction(tx =>
        work({
          ...tx,
          rows(query) {
            if (query.name?.startsWith('lock_')) locks.push(query.name)
            return tx.rows(query)
          },
        }),
      ),
  })
  const paying = node(() => pending, watched)
  const done = await Promise.all(payments.map(payment => pay(paying, payment, request())))
  expect(done.map(result => result.done)).toEqual(Array(12).fill('started'))
  await Promise.all(payments.map(payment => cancel(paying, payment, noon)))
  expect(locks.length).toBe(commits)
  for (const name of ['lock_to_begin_of_many', 'lock_to_resolve_of_many', 'lock_to_end_of_many'])
    expect(locks).toContain(name)
})

test('a wallet that has failed too often at one merchant pays at another in the same batch', async () => {
  const [here = '', there = ''] = await addShops(['wallet_1', 'wallet_2'])
  const spent = Array.from({ length: maxFailures.test.instrument }, () => newPayment(here, noon, hours(1)))
  const both = [here, there].map(id => newPayment(id, noon, hours(1)))
  await storePayments(lives.db, [...spent, ...both])
  const paying = node(() => pending)
  const payBy = (payment: Payment) => pay(paying, payment, { ...request(), input: { phone: '0249999999' } })
  await Promise.all(spent.map(payBy))
  const done = await Promise.all(both.map(payBy))
  expect(done.map(result => result.done)).toEqual(['refused', 'started'])
})

// A sharded database locks no rows of several merchants by one statement: these may be of different shards. The first batches
// learn that.
test('neighbours of other merchants share a transaction where each merchant is locked by itself', async () => {
  const { db: refusing, refused } = withoutSkipLocked(lives.db)
  const sharded = counting(refusing)
  const shops = await addShops(['hant_of_1', 'hant_of_2', 'hant_of_3'])
  const payments = shops.flatMap(id => Array.from({ length: 4 }, () => newPayment(id, noon, hours(1))))
  await storePayments(lives.db, payments)
  const statuses = async () =>
    (
      await Promise.all(
        payments.map(({ merchant_id, tx_reference }) => readPayments(lives.db, merchant_id, [tx_reference])),
      )
    ).map(([life]) => life)
  commits = 0
  const paying = node(() => pending, sharded)
  const done = await Promise.all(payments.map(payment => pay(paying, payment, request())))
  expect(done.map(result => result.done)).toEqual(Array(12).fill('started'))
  const attempts = (await statuses()).map(life => life?.attempts[0] as Attempt)
  const asked = node(order => paid(order), sharded)
  await Promise.all(attempts.map(attempt => pollAttempt(asked, attempt)))
  expect((await statuses()).map(life => life?.payment.status)).toEqual(Array(12).fill('paid'))
  expect(refused()).toBeGreaterThan(0)
  expect(refused()).toBeLessThanOrEqual(2)
  expect(commits).toBeLessThan(20)
})

test('one that cannot be written is told so, and its neighbours are resolved', async () => {
  const { payments, attempts } = await started(12)
  const sick = payments[5] as Payment
  await poison(sick.tx_reference, 'events')
  const asked = node(order => paid(order))
  const ends = await Promise.allSettled(attempts.map(attempt => pollAttempt(asked, attempt)))
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  const lived = await read(payments)
  for (const { payment, tasks } of lived) {
    const isSick = payment.tx_reference === sick.tx_reference
    expect([payment.status, tasks.map(({ kind }) => kind)]).toEqual(
      isSick ? ['awaiting_payment', ['not_recorded']] : ['paid', []],
    )
  }
})

test('one that somebody holds is waited for alone', async () => {
  const payments = await lives.addPayments(6, noon)
  const held = payments[2] as Payment
  const others = payments.filter(payment => payment !== held)
  const letGo = await lockRows(
    lives.url,
    'select 1 from payments where merchant_id = $1 and tx_reference = $2',
    [held.merchant_id, held.tx_reference],
  )
  const line = node(() => pending)
  const late = pay(line, held, request()).then(
    ({ done }) => done,
    () => 'told to repeat',
  )
  const done = await Promise.all(others.map(payment => pay(line, payment, request())))
  expect(done.map(result => result.done)).toEqual(Array(5).fill('started'))
  expect(byReference(await read(payments), held)?.attempts).toEqual([])
  await letGo()
  if ((await late) === 'told to repeat') await pay(line, held, request())
  expect(byReference(await read(payments), held)?.attempts).toHaveLength(1)
})

test('the same form twice in one go is one attempt, and both are told that it has begun', async () => {
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const line = node(() => pending)
  const done = await Promise.all([pay(line, payment, request()), pay(line, payment, request())])
  expect(done).toEqual([{ done: 'started' }, { done: 'started' }])
  expect(byReference(await read([payment]), payment)?.attempts).toHaveLength(1)
})

test('one reference for two that are resolved in one go pays one of them', async () => {
  const { payments, attempts } = await started(4)
  const asked = node(order => paid(order, attempts.slice(0, 2).some(is(order)) ? 'R-same' : undefined))
  await Promise.all(attempts.map(attempt => pollAttempt(asked, attempt)))
  const lived = await read(payments)
  expect(lived.map(({ payment }) => payment.status).toSorted()).toEqual([
    'awaiting_payment',
    'paid',
    'paid',
    'paid',
  ])
  expect(lived.flatMap(({ tasks }) => tasks.map(({ kind }) => kind))).toEqual(['reference_taken'])
})

const is =
  ({ attempt_id }: Order) =>
  (attempt: Attempt) =>
    attempt.attempt_id === attempt_id

test('two nodes that begin, cancel and settle the same payments: each has one story', async () => {
  const pools = [openDb(lives.url, 5), openDb(lives.url, 5)]
  const payments = await lives.addPayments(20, noon)
  const nodes = pools.map(pool => node(order => paid(order), pool))
  const told = await Promise.allSettled(
    payments.flatMap(payment =>
      nodes.flatMap(one => [pay(one, payment, request()), cancel(one, payment, noon)]),
    ),
  )
  expect(told.filter(({ status }) => status === 'rejected')).toEqual([])
  for (const { payment, attempts, events } of await read(payments)) {
    expect(attempts.length).toBeLessThanOrEqual(1)
    expect(payment.status).toBe(attempts.length === 1 ? 'paid' : 'cancelled')
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1))
    expect(events.filter(({ to_status }) => to_status === 'paid')).toHaveLength(attempts.length)
  }
  await Promise.all(pools.map(pool => pool.end()))
})

test('a process that dies between decision and commit has decided nothing, of nobody', async () => {
  const { payments, attempts } = await started(8)
  const dying: Db = {
    ...lives.db,
    withDeadline: () => dying,
    withQuota: () => dying,
    transaction: work =>
      lives.db.transaction(async tx => {
        await work(tx)
        throw new Error('dead')
      }),
  }
  const asked = node(order => paid(order), dying)
  await Promise.allSettled(attempts.map(attempt => pollAttempt(asked, attempt)))
  expect(new Set((await read(payments)).map(({ payment }) => payment.status))).toEqual(
    new Set(['awaiting_payment']),
  )
  await Promise.all(
    attempts.map(attempt =>
      pollAttempt(
        node(order => paid(order)),
        attempt,
      ),
    ),
  )
  for (const { payment, events } of await read(payments)) {
    expect(payment.status).toBe('paid')
    expect(events.filter(({ to_status }) => to_status === 'paid')).toHaveLength(1)
  }
})
