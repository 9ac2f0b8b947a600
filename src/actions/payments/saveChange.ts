import type { Change } from '../../core/payment/change.ts'
import type { NewEvent } from '../../core/payment/event.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Tx } from '../../store/db.ts'
import { addCustomerMessages } from '../../store/messages/messages.ts'
import { addNotifications } from '../../store/notifications/manyNotifications.ts'
import { saveAttempt } from '../../store/payments/attempts.ts'
import { addEventsOfMany } from '../../store/payments/events.ts'
import { type PaymentWithMerchant, savePayments } from '../../store/payments/paymentLife.ts'
import { addTasks } from '../../store/payments/tasks.ts'
import { type News, newsOf } from '../notifications/recordNotification.ts'

// What changes in one payment, the events that tell of it and what has to be said of it to others.
export type PaymentChange = {
  before: PaymentWithMerchant
  after: Payment
  events: readonly NewEvent[]
  news: News | undefined
}

export function changeOf(
  before: PaymentWithMerchant,
  after: Payment,
  events: readonly NewEvent[],
): PaymentChange {
  const changed = events.find(({ kind }) => kind === 'status_changed') // one at most: a payment moves once at a time
  return { before, after, events, news: changed && newsOf(before, after, changed) }
}

// All of it, of many payments at once, in the transaction that holds their rows: there is no new status without its
// event, its notification and its messages.
export async function saveChanges(tx: Tx, changes: readonly PaymentChange[]) {
  const moved = changes.filter(({ before, after }) => after !== before)
  if (moved.length > 0)
    await savePayments(
      tx,
      moved.map(({ after }) => after),
    )
  await addEventsOfMany(
    tx,
    changes.map(({ after, events }) => ({ key: after, events })),
  )
  const news = changes.flatMap(change => change.news ?? [])
  await addNotifications(
    tx,
    news.map(({ telling }) => telling),
  )
  await addCustomerMessages(
    tx,
    news.flatMap(({ messages }) => messages),
  )
}

export const savePaymentChange = (
  tx: Tx,
  before: PaymentWithMerchant,
  after: Payment,
  events: readonly NewEvent[],
) => saveChanges(tx, [changeOf(before, after, events)])

// Gives back the tasks that are new.
export async function saveChange(
  tx: Tx,
  before: PaymentWithMerchant,
  { payment, attempt, events, tasks }: Change,
) {
  await saveAttempt(tx, attempt)
  await savePaymentChange(tx, before, payment, events)
  return addTasks(tx, tasks)
}
