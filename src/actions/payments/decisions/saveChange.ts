import type { Attempt } from '../../../core/payment/attempt.ts'
import type { Change } from '../../../core/payment/change.ts'
import type { NewEvent } from '../../../core/payment/event.ts'
import type { Payment } from '../../../core/payment/payment.ts'
import type { Query, Tx } from '../../../store/db.ts'
import { customerMessages } from '../../../store/messages/messages.ts'
import {
  addNotifications,
  type InlineLease,
  leasedDeliveries,
} from '../../../store/notifications/notifications.ts'
import { insertAttempts, saveAttempts } from '../../../store/payments/attempts.ts'
import { addEventsOfMany } from '../../../store/payments/events.ts'
import { holdReferences, type PaidReference } from '../../../store/payments/paidReferences.ts'
import { type PaymentWithMerchant, savePayments } from '../../../store/payments/paymentLife.ts'
import { addTasks } from '../../../store/payments/tasks.ts'
import { type StatementPart, groupStatement } from '../../../store/groupStatement.ts'
import type { Inbox } from '../../messages/inbox.ts'
import { type NotificationUpdate, notificationUpdateOf } from '../../notifications/recordNotification.ts'

// What changes in one payment, the events that tell of it and what has to be said of it to others.
export type PaymentChange = {
  before: PaymentWithMerchant
  after: Payment
  events: readonly NewEvent[]
  update: NotificationUpdate | undefined
  begun?: Attempt // new
  replied?: Attempt // of which a provider has told something
  reference?: PaidReference // that has paid it
}

export function changeOf(
  before: PaymentWithMerchant,
  after: Payment,
  events: readonly NewEvent[],
): PaymentChange {
  const changed = events.find(({ kind }) => kind === 'status_changed') // one at most: a payment moves once at a time
  return { before, after, events, update: changed && notificationUpdateOf(before, after, changed) }
}

// All of it, of many payments at once, in the transaction that holds their rows: there is no new status without its
// event, its notification and its messages. Tells which deliveries have the lease of the carriage. Undefined when nothing
// has changed.
export function writeOf(
  changes: readonly PaymentChange[],
  carriage?: InlineLease,
  inbox?: Pick<Inbox, 'keeps'>,
): Query | undefined {
  const news = changes.flatMap(change => change.update ?? [])
  const parts: StatementPart[] = [
    ...part(
      holdReferences,
      changes.flatMap(({ reference }) => reference ?? []),
    ),
    ...part(
      insertAttempts,
      changes.flatMap(({ begun }) => begun ?? []),
    ),
    ...part(
      saveAttempts,
      changes.flatMap(({ replied: heard }) => heard ?? []),
    ),
    ...part(
      savePayments,
      changes.flatMap(({ before, after }) => (after === before ? [] : [after])),
    ),
    ...part(
      addEventsOfMany,
      changes.flatMap(({ after, events }) => (events.length === 0 ? [] : [{ key: after, events }])),
    ),
    ...addNotifications(
      news.map(({ notification: telling }) => telling),
      carriage,
    ),
    ...part(
      customerMessages,
      messagesOf(changes).map(message => ({ ...message, isKept: inbox?.keeps(message) ?? false })),
    ),
  ]
  if (parts.length === 0) return undefined
  return parts.some(({ name }) => name === 'sent')
    ? groupStatement(parts, leasedDeliveries)
    : groupStatement(parts)
}

export const messagesOf = (changes: readonly PaymentChange[]) =>
  changes.flatMap(({ update: news }) => news?.messages ?? [])

const part = <Row>(write: (rows: readonly Row[]) => StatementPart, rows: readonly Row[]) =>
  rows.length === 0 ? [] : [write(rows)]

export async function saveChanges(tx: Tx, changes: readonly PaymentChange[]) {
  const write = writeOf(changes)
  if (write) await tx.rows(write)
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
  await saveChanges(tx, [{ ...changeOf(before, payment, events), replied: attempt }])
  return addTasks(tx, tasks)
}
