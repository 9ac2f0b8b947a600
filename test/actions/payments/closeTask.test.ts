import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { closeTask } from '../../../src/actions/payments/closeTask.ts'
import type { TaskKind } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import { countOpenTasks, reopenTaskOf, tasksOf } from '../../../src/store/payments/tasks.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, pending, unclear, wrong, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
const start = new Date('2026-05-01T10:00:00Z')
const later = after(hours(25), start)
beforeAll(async () => {
  shop = await openShop()
  shop.setNow(start)
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const close = (payment: Payment, kind: TaskKind, now = later, number?: number) =>
  closeTask(shop.db, payment, { kind, note: 'Looked into it.', number }, now)

const rows = async ({ merchant_id, tx_reference }: Payment) => ({
  attempts: await attemptsOf(shop.db, merchant_id, tx_reference),
  events: await eventsOf(shop.db, merchant_id, tx_reference),
  tasks: await tasksOf(shop.db, merchant_id, tx_reference),
})

async function paidTwice() {
  shop.setNow(start)
  const payment = await shop.ask(merchant)
  await shop.try(payment, no)
  shop.setNow(after(minutes(1), start))
  await shop.try(payment, yes)
  return shop.hear(payment, yes, 1)
}

async function silent() {
  shop.setNow(start)
  const payment = await shop.ask(merchant)
  await shop.try(payment, unclear)
  shop.setNow(after(hours(24), start))
  return shop.hear(payment, unclear)
}

async function disputed() {
  shop.setNow(start)
  return shop.try(await shop.ask(merchant), wrong)
}

test('what is not open cannot be closed, and nothing is written', async () => {
  const payment = await disputed()
  const before = await rows(payment)
  expect(await close(payment, 'refund')).toEqual({ done: 'no_such_task' })
  expect(await close(payment, 'amount_mismatch', later, 2)).toEqual({ done: 'no_such_task' })
  expect(await close({ ...payment, tx_reference: 'TG-NOPE' }, 'amount_mismatch')).toEqual({
    done: 'no_such_task',
  })
  expect(await close({ ...payment, merchant_id: 'somebody00' }, 'amount_mismatch')).toEqual({
    done: 'no_such_task',
  })
  expect(await rows(payment)).toEqual(before)
})

test('a second closing finds nothing open', async () => {
  const payment = await paidTwice()
  expect(await close(payment, 'refund')).toMatchObject({ done: 'closed' })
  expect(await close(payment, 'refund', after(1, later))).toEqual({ done: 'no_such_task' })
  expect((await rows(payment)).events.filter(({ kind }) => kind === 'task_closed')).toHaveLength(1)
})

test('run again after a lost commit it finds its own work', async () => {
  const payment = await disputed()
  const first = await close(payment, 'amount_mismatch')
  const before = await rows(payment)
  expect(await close(payment, 'amount_mismatch')).toEqual(first)
  expect(await rows(payment)).toEqual(before)
})

test('closed by two at once it is closed once', async () => {
  const payment = await disputed()
  const both = await Promise.all([
    close(payment, 'amount_mismatch'),
    close(payment, 'amount_mismatch', after(1, later)),
  ])
  expect(both.map(({ done }) => done).sort()).toEqual(['closed', 'no_such_task'])
})

test('a refund closes with a note and an event, and the payment stays paid', async () => {
  const payment = await paidTwice()
  const closed = await close(payment, 'refund')
  expect(closed).toMatchObject({ done: 'closed', gaveUp: false, payment: { status: 'paid' } })
  const { tasks, events } = await rows(payment)
  expect(tasks).toMatchObject([{ kind: 'refund', closed_at: later, closed_note: 'Looked into it.' }])
  expect(events.at(-1)).toMatchObject({
    kind: 'task_closed',
    cause: 'operator',
    reason: 'Looked into it.',
    at: later,
  })
  expect(await shop.fresh(payment)).toEqual(payment)
})

test('two refunds of one payment are closed one by one', async () => {
  shop.setNow(start)
  const payment = await shop.ask(merchant)
  for (const minute of [1, 2, 3]) {
    shop.setNow(after(minutes(minute), start))
    await shop.try(payment, minute < 3 ? no : yes)
  }
  await shop.hear(payment, yes, 1)
  await shop.hear(payment, yes, 2)
  expect(await close(payment, 'refund')).toEqual({ done: 'several', numbers: [1, 2] })
  expect(await close(payment, 'refund', later, 2)).toMatchObject({ done: 'closed' })
  expect(await close(payment, 'refund', after(1, later))).toMatchObject({ done: 'closed' })
})

test('a disputed attempt is given up: the operator ends the payment, and nobody asks again', async () => {
  const payment = await disputed()
  expect(payment.status).toBe('awaiting_payment')
  const closed = await close(payment, 'amount_mismatch')
  expect(closed).toMatchObject({ done: 'closed', gaveUp: true, payment: { status: 'failed' } })
  const { attempts, events } = await rows(payment)
  expect(attempts).toMatchObject([
    { state: 'failed', reason: 'given_up', ended_at: later, next_poll_at: null, given: {} },
  ])
  expect(events.slice(-3).map(({ kind, cause }) => [kind, cause])).toEqual([
    ['task_closed', 'operator'],
    ['attempt_failed', 'operator'],
    ['status_changed', 'operator'],
  ])
})

test('an attempt that nobody knows of is given up, and asked about a little longer', async () => {
  const payment = await silent()
  expect(await close(payment, 'unresolved')).toMatchObject({ gaveUp: true, payment: { status: 'failed' } })
  const { attempts } = await rows(payment)
  expect(attempts).toMatchObject([{ state: 'failed', reason: 'given_up' }])
  expect(attempts[0]?.next_poll_at?.getTime()).toBeGreaterThan(later.getTime())
  shop.setNow(after(minutes(1), later))
  expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid', late: true })
})

test('given up before the checkout expires, it can be tried again', async () => {
  const payment = await disputed()
  const now = after(minutes(5), start)
  await close(payment, 'amount_mismatch', now)
  shop.setNow(after(minutes(6), start))
  expect(await shop.try(payment, pending)).toMatchObject({ status: 'awaiting_payment' })
})

test('where the customer wished to cancel, the payment is cancelled', async () => {
  const payment = await disputed()
  await cancel(shop.runtime, payment, after(minutes(1), start))
  expect(await close(payment, 'amount_mismatch')).toMatchObject({ payment: { status: 'cancelled' } })
})

test('an attempt that ended meanwhile is left as it is', async () => {
  const payment = await silent()
  const paid = await shop.hear(payment, yes)
  expect(await close(payment, 'unresolved')).toMatchObject({ done: 'closed', gaveUp: false })
  expect(await shop.fresh(payment)).toEqual(paid)
  expect((await rows(payment)).attempts).toMatchObject([{ state: 'paid' }])
})

test('what could not be written down says nothing about the money: it is closed, and asked about on', async () => {
  shop.setNow(start)
  const payment = await shop.try(await shop.ask(merchant), pending)
  const [attempt] = (await rows(payment)).attempts
  if (!attempt) throw new Error('no attempt')
  expect(await reopenTaskOf(shop.db, attempt, 'not_recorded', 'no room', start)).toMatchObject({
    amount: 2500n,
  })
  expect(await reopenTaskOf(shop.db, attempt, 'not_recorded', 'no room', later)).toBeUndefined()
  expect(await close(payment, 'not_recorded')).toMatchObject({ done: 'closed', gaveUp: false })
  expect((await rows(payment)).attempts).toEqual([attempt])
  expect((await rows(payment)).events.at(-1)).toMatchObject({ kind: 'task_closed', cause: 'operator' })
  const again = { note: 'no room still', created_at: later, closed_at: null, closed_note: null }
  expect(await reopenTaskOf(shop.db, attempt, 'not_recorded', 'no room still', later)).toMatchObject(again)
  expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid' })
  expect(await close(payment, 'not_recorded', after(1, later))).toMatchObject({ done: 'closed' })
})

test('a yes to another order says nothing about this one: it is closed, and asked about on', async () => {
  shop.setNow(start)
  const payment = await shop.try(await shop.ask(merchant), { ...yes, order: 'somebodyelses' })
  const { attempts } = await rows(payment)
  expect(await close(payment, 'other_order')).toMatchObject({ done: 'closed', gaveUp: false })
  expect((await rows(payment)).attempts).toEqual(attempts)
  expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid' })
})

test('a yes by a reference that has paid another: who looked into it gives the attempt up', async () => {
  shop.setNow(start)
  const same = { ...yes, provider_ref: 'FT-SAME' }
  await shop.try(await shop.ask(merchant), same)
  const payment = await shop.try(await shop.ask(merchant), same)
  expect(payment.status).toBe('awaiting_payment')
  expect(await close(payment, 'reference_taken')).toMatchObject({
    gaveUp: true,
    payment: { status: 'failed' },
  })
  expect((await rows(payment)).attempts).toMatchObject([{ reason: 'given_up', next_poll_at: null }])
})

test('a closed task is not raised again by the same news', async () => {
  const payment = await silent()
  await close(payment, 'unresolved')
  const open = await countOpenTasks(shop.db)
  shop.setNow(after(hours(1), later))
  await shop.hear(payment, unclear)
  expect(await countOpenTasks(shop.db)).toBe(open)
})
