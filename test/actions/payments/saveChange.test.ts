import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeOf, statementOf } from '../../../src/actions/payments/writeChanges.ts'
import { decideExpiry } from '../../../src/core/payment/expiry.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql, type Tx } from '../../../src/store/db.ts'
import { addEvents } from '../../../src/store/payments/events.ts'
import { lockPayment, type PaymentWithMerchant } from '../../../src/store/payments/paymentLife.ts'
import { destination, storeNotification } from '../../support/deliveries/notifications.ts'
import {
  insertAttempt,
  openPaymentDatabase,
  type PaymentDatabase,
} from '../../support/payments/paymentDatabase.ts'
import { after, anAttempt, hours, noon } from '../../support/payments/rows.ts'

// Many changes in one go leave what the same changes leave one after the other.
let lives: PaymentDatabase
beforeAll(async () => void (lives = await openPaymentDatabase()))
afterAll(() => lives.close())

const later = after(hours(2))

type History = { url: boolean; email: boolean; events: number; told: number; tries: number }
const histories: History[] = [false, true].flatMap(url =>
  [false, true].flatMap(email =>
    [0, 2].flatMap(events =>
      [0, 1, 2].flatMap(told => [0, 2].map(tries => ({ url, email, events, told, tries }))),
    ),
  ),
)

async function live(payment: Payment, { url, email, events, told, tries }: History, at: number) {
  const { merchant_id, tx_reference } = payment
  const { db } = lives
  await db.rows(sql`
    update payments set ipn_url = ${url ? destination.url : null}, email = ${email ? 'ama@shop.example' : null}
    where tx_reference = ${tx_reference}`)
  for (let number = 1; number <= tries; number++)
    await insertAttempt(
      db,
      anAttempt({
        merchant_id,
        tx_reference,
        number,
        attempt_id: `${tx_reference}-${number}`,
        state: 'failed',
        lang: ['fr', 'en'][(at + number) % 2],
      }),
    )
  const some = Array.from({ length: events }, () => ({
    kind: 'attempt_started' as const,
    cause: 'customer' as const,
    attempt_id: null,
    from_status: null,
    to_status: null,
    reason: '',
    at: noon,
  }))
  await addEvents(db, payment, some)
  for (let count = 0; count < told; count++)
    await storeNotification(
      db,
      { merchant_id, tx_reference, created_at: noon, body: '{}' },
      count === 0 ? destination : undefined,
    )
}

const changesOf = (payments: readonly PaymentWithMerchant[]) =>
  payments.map(payment => {
    const ended = decideExpiry(payment, [], later)
    if (!ended) throw new Error('its time is not over')
    return changeOf(payment, ended.payment, ended.events)
  })

async function save(tx: Tx, payments: readonly PaymentWithMerchant[]) {
  const statement = statementOf(tx, changesOf(payments))
  if (statement) await tx.rows(statement)
}

// What stands there of one, without the names that differ.
async function standing({ tx_reference }: Payment) {
  const rows = (table: string) =>
    lives.db.rows<Record<string, unknown>>(
      sql([`select * from ${table} where tx_reference = '${tx_reference}'`]),
    )
  const all = await Promise.all(['payments', 'events', 'notifications', 'deliveries', 'messages'].map(rows))
  const text = JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  const neutral = text.replaceAll(tx_reference, 'TG').replace(/"tx_token":"[^"]*"/, '')
  return JSON.parse(neutral.replaceAll(/,,|\{,/g, match => match[0] as string)) as Record<string, unknown>[][]
}

async function lockAll(tx: Tx, payments: readonly Payment[]) {
  const locked: PaymentWithMerchant[] = []
  for (const payment of payments) locked.push((await lockPayment(tx, payment)) as PaymentWithMerchant)
  return locked
}

test('in one go or one after the other', async () => {
  const alone = await lives.addPayments(histories.length, noon)
  const together = await lives.addPayments(histories.length, noon)
  for (const [at, history] of histories.entries())
    for (const payment of [alone[at], together[at]]) await live(payment as Payment, history, at)
  for (const payment of alone) await lives.db.transaction(async tx => save(tx, await lockAll(tx, [payment])))
  await lives.db.transaction(async tx => save(tx, await lockAll(tx, together)))
  for (const [at, history] of histories.entries()) {
    const [payments, events, notifications, deliveries, messages] = await standing(together[at] as Payment)
    expect([payments, events, notifications, deliveries, messages], JSON.stringify(history)).toEqual(
      await standing(alone[at] as Payment),
    )
    expect(payments).toMatchObject([{ status: 'failed' }])
    expect(events).toHaveLength(history.events + 1)
    expect(notifications).toHaveLength(history.told + 1)
    expect(deliveries).toHaveLength((history.told > 0 ? 1 : 0) + (history.url ? 1 : 0))
    expect(messages).toHaveLength(history.email && history.tries > 0 ? 1 : 0)
  }
})
