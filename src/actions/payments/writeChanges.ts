import type { FeeToReturn } from '../../core/ledger/book.ts'
import { transfersOf } from '../../core/ledger/bookChange.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { destinationOf } from '../../core/notification/destination.ts'
import {
  isSent,
  notificationBody,
  type NotificationKey,
  refundUpdateBody,
} from '../../core/notification/notification.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { MoneyBack, NewEvent, ReversalRecord, Task, TaskKind } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { RefundChange } from '../../core/refund/refund.ts'
import type { LocalWorkers, Reservation } from '../../runtime/localWorkers.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { isOutcomeUnknown } from '../../store/databaseErrors.ts'
import type { Db, Query, Tx } from '../../store/db.ts'
import { groupStatement, type StatementPart } from '../../store/groupStatement.ts'
import { type CustomerMessage, customerMessages } from '../../store/messages/messages.ts'
import {
  addNotification,
  addNotifications,
  type InlineLease,
  leasedDeliveries,
  newDeliveriesOf,
  type NewNotification,
  type NotificationToAdd,
} from '../../store/notifications/notifications.ts'
import {
  holdReferences,
  insertAttempts,
  type PaidReference,
  saveAttempts,
  saveCustomerActs,
  saveSendings,
} from '../../store/payments/attempts.ts'
import { bookedGatewayFee, bookTransfers } from '../../store/ledger/transfers.ts'
import { addLateChanges, type LateChange } from '../../store/payments/reports.ts'
import { isAccountOf } from '../../store/providers/accounts.ts'
import { addEventsOfMany } from '../../store/payments/events.ts'
import { addMoneyBack, claimReversals } from '../../store/payments/moneyBack.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import {
  type LockedPayment,
  lockPayment,
  type PaymentWithMerchant,
  savePayments,
  saveRedirects,
} from '../../store/payments/paymentLife.ts'
import { addTasks, closeOpenTask } from '../../store/payments/tasks.ts'
import { insertRefunds, saveRefunds } from '../../store/refunds/refunds.ts'
import { messagesFor, refundMessagesFor } from '../messages/queueMessages.ts'

// The one writer of payments: every change of a payment, of its attempts, and the events, tasks and notifications that
// follow from it are written here, in the transaction that has locked the payment's row. Only the schedule of polls is
// written elsewhere (store/payments/dueAttempts.ts and callbacks.ts), and tasks that follow from no change.

export type PaymentChange = {
  before: PaymentWithMerchant
  after: Payment
  events: readonly NewEvent[]
  update: NotificationUpdate | undefined // the notification and the messages of a new status
  newAttempt?: Attempt
  attemptBefore?: Attempt // of `repliedAttempt`, if a charge may have changed
  isOwnAccount?: boolean // its provider account belongs to the merchant
  repliedAttempt?: Attempt // changed by a provider's reply, or given up by an operator
  resentAttempt?: Attempt // the order is sent again
  actedAttempt?: Attempt // the customer submitted a step or gave the attempt up
  reference?: PaidReference // the provider's reference that has paid the attempt
  reopenedUntil?: Date
  visit?: string // the visit that is redirected to the shop
  tasks?: readonly Task[]
  closedTasks?: readonly ClosedTask[]
  moneyBack?: MoneyBack // new records of refunds and disputes
  moneyBackBefore?: MoneyBack // the records of the attempt before the change
  refund?: RefundChange
  refundedCharge?: Attempt // of `refund`
  claimedReversals?: readonly ReversalRecord[] // recorded reversals that turned out to be this refund
  feeToReturn?: FeeToReturn // read when the change is written
  feedEntries?: readonly NewNotification[] // notifications that are not delivered
  otherNotification?: NotificationToAdd // besides that of the new status
}

type NotificationUpdate = { notification: NotificationToAdd; messages: CustomerMessage[] }
type ClosedTask = { attempt_id: string; kind: TaskKind; note: string; closed_at: Date }

export function changeOf(
  before: PaymentWithMerchant,
  after: Payment,
  events: readonly NewEvent[],
): PaymentChange {
  const changed = events.find(({ kind }) => kind === 'status_changed') // one at most: a payment moves once at a time
  return { before, after, events, update: changed && notificationUpdateOf(before, after, changed) }
}

// The notification to the merchant and the messages to the customer about a status change. Workers send them after the
// commit.
function notificationUpdateOf(
  { merchant_settings }: PaymentWithMerchant,
  payment: Payment,
  { at }: NewEvent,
): NotificationUpdate {
  const { merchant_id, tx_reference, mode, status } = payment
  const settings = readMerchantSettings(merchant_settings)
  const style = settings.ipn_style
  const to = isSent(status, style) ? destinationOf(payment, settings) : undefined
  const body = notificationBody(payment, style)
  const notification = { merchant_id, tx_reference, mode, status, body, created_at: at }
  return { notification: { notification, to }, messages: messagesFor(payment, at) }
}

// The feed entry of a refund whose state has changed. It is delivered only if the merchant's ipn_refunds is on. The customer
// gets a message when the refund has succeeded.
export function refundUpdateOf({
  before,
  after,
  refund: change,
}: PaymentChange): NotificationUpdate | undefined {
  if (!change || change.before?.state === change.after.state) return undefined
  const refund = change.after
  const { merchant_id, tx_reference, mode, status } = after
  const settings = readMerchantSettings(before.merchant_settings)
  const style = settings.ipn_style
  const to = settings.ipn_refunds ? destinationOf(after, settings) : undefined
  const body = refundUpdateBody(refund, style)
  const type = `refund.${refund.state}` as const
  const created_at = refund.updated_at
  return {
    notification: { notification: { merchant_id, tx_reference, mode, status, type, body, created_at }, to },
    messages: refund.state === 'succeeded' ? refundMessagesFor(after, refund, created_at) : [],
  }
}

// A change has one notification in the statement of the commit. That of a refund is written there, too, unless the status
// changes at the same time.
function withRefundUpdate(change: PaymentChange): PaymentChange {
  const refunded = refundUpdateOf(change)
  if (!refunded || !change.update) return refunded ? { ...change, update: refunded } : change
  const { notification, messages } = change.update
  return {
    ...change,
    update: { notification, messages: [...messages, ...refunded.messages] },
    otherNotification: refunded.notification,
  }
}

// Writes all changes of the transaction, most of them with its commit. Returns the new tasks. Called at most once.
export type Write = (changes: readonly PaymentChange[]) => Promise<Task[]>

// What a transaction writes with its commit, until the outcome of the commit is known.
type CommitWrites = {
  changes: readonly PaymentChange[]
  deliveries: number
  messages: readonly CustomerMessage[]
  reservation?: Reservation
  leased: Promise<NotificationKey[]>
}

// Runs a transaction that locks payments, decides and calls `write`. If this process has free dispatch slots, deliveries are
// inserted with their leases and sent right after the commit; no poll is needed. The slots are reserved before the rows are
// written, because the rows contain the lease. A transaction whose connection was lost runs again: the outcome of the
// first run is unknown then, and nothing of it is sent inline.
export async function writeChanges<T>(
  db: Db,
  local: LocalWorkers,
  work: (tx: Tx, write: Write) => Promise<T>,
): Promise<T> {
  const senders = { ...local } // a worker that stops meanwhile still gets the outcome
  let written: CommitWrites | undefined
  const result = await db
    .transaction(tx => {
      if (written) reportUnknownOutcome(senders, written)
      written = undefined
      return work(tx, async decided => {
        const changes = decided.map(withRefundUpdate)
        const tasks: Task[] = []
        for (const change of changes) tasks.push(...(await writeRareParts(tx, change)))
        written = writeWithCommit(tx, senders, await withLedgerFacts(tx, changes))
        return tasks
      })
    })
    .catch((error: unknown) => {
      if (written && isOutcomeUnknown(error)) reportUnknownOutcome(senders, written)
      else written?.reservation?.release()
      throw error
    })
  if (written) await dispatchWritten(senders, written)
  return result
}

// Decides about one payment in its own transaction, for decisions that are too rare to share one. Undefined if the payment
// does not exist.
export const changeOne = <Answer>(
  db: Db,
  local: LocalWorkers,
  key: PaymentKey,
  decide: (tx: Tx, payment: LockedPayment) => Promise<{ answer: Answer; change?: PaymentChange }>,
): Promise<Answer | undefined> =>
  writeChanges(db, local, async (tx, write) => {
    const payment = await lockPayment(tx, key)
    if (!payment) return undefined
    const { answer, change } = await decide(tx, payment)
    if (change) await write([change])
    return answer
  })

// Each by its own statement, before the statement of the commit.
async function writeRareParts(
  tx: Tx,
  {
    before,
    moneyBack,
    refund,
    claimedReversals,
    feedEntries = [],
    otherNotification,
    closedTasks = [],
    tasks = [],
  }: PaymentChange,
): Promise<Task[]> {
  if (moneyBack) await addMoneyBack(tx, moneyBack)
  if (refund && claimedReversals) await claimReversals(tx, claimedReversals, refund.after.refund_reference)
  for (const entry of feedEntries) await addNotification(tx, entry, undefined)
  if (otherNotification) await addNotification(tx, otherNotification.notification, otherNotification.to)
  for (const { attempt_id, kind, note, closed_at } of closedTasks)
    await closeOpenTask(tx, before.merchant_id, attempt_id, kind, note, closed_at)
  return addTasks(tx, tasks)
}

// What the transfers of refunds depend on. Other changes have it already.
const withLedgerFacts = async (tx: Tx, changes: readonly PaymentChange[]) =>
  changes.some(({ refund }) => refund) ? Promise.all(changes.map(one => withRefundFacts(tx, one))) : changes

async function withRefundFacts(tx: Tx, change: PaymentChange): Promise<PaymentChange> {
  const { before, refund } = change
  if (!refund) return change
  const { merchant_id, tx_reference, merchant_settings, refunded_amount } = before
  const { attempt_id, provider_account, source, state } = refund.after
  const isOwnAccount = await isAccountOf(tx, provider_account, merchant_id)
  const returnsFee =
    state === 'succeeded' &&
    source === 'payment' &&
    readMerchantSettings(merchant_settings).fee_on_refund === 'return'
  if (!returnsFee) return { ...change, isOwnAccount }
  const fee = await bookedGatewayFee(tx, merchant_id, attempt_id, tx_reference)
  return { ...change, isOwnAccount, feeToReturn: { fee, refunded: refunded_amount ?? 0n } }
}

function writeWithCommit(
  tx: Tx,
  { dispatch, inbox }: LocalWorkers,
  changes: readonly PaymentChange[],
): CommitWrites | undefined {
  const deliveries = newDeliveriesOf(notificationsIn(changes))
  const reservation = deliveries.length > 0 ? dispatch?.reserve(deliveries) : undefined
  const statement = statementOf(tx, changes, reservation, inbox)
  const leased = statement && tx.writeWithCommit<NotificationKey>(statement)
  return (
    leased && { changes, deliveries: deliveries.length, messages: messagesIn(changes), reservation, leased }
  )
}

// All changes in one statement, with one part for each table: there is no new status without its event, its notification
// and its messages. The statement returns the deliveries that have the lease. Undefined if nothing changes.
export function statementOf(
  tx: Tx,
  changes: readonly PaymentChange[],
  lease?: InlineLease,
  inbox?: LocalWorkers['inbox'],
): Query | undefined {
  const part = <Row>(
    write: (rows: readonly Row[]) => StatementPart,
    rowOf: (change: PaymentChange) => Row | readonly Row[] | undefined,
  ): StatementPart[] => {
    const rows = changes.flatMap(change => rowOf(change) ?? [])
    return rows.length === 0 ? [] : [write(rows)]
  }
  const parts = [
    ...part(holdReferences, ({ reference }) => reference),
    ...part(insertAttempts, ({ newAttempt: begun }) => begun),
    ...part(saveAttempts, ({ repliedAttempt: replied }) => replied),
    ...part(saveSendings, ({ resentAttempt: resent }) => resent),
    ...part(saveCustomerActs, ({ actedAttempt: acted }) => acted),
    ...part(savePayments, ({ before, after, reopenedUntil }) =>
      after === before ? undefined : { ...after, reopened_until: reopenedUntil },
    ),
    ...part(insertRefunds, ({ refund }) => (refund && !refund.before ? refund.after : undefined)),
    ...part(saveRefunds, ({ refund }) => (refund?.before ? refund.after : undefined)),
    ...part(saveRedirects, ({ before, visit }) => (visit === undefined ? undefined : { ...before, visit })),
    ...part(addEventsOfMany, ({ after, events }) =>
      events.length === 0 ? undefined : { key: after, events },
    ),
    ...part(bookTransfers, change =>
      transfersOf(change, () => readMerchantSettings(change.before.merchant_settings)),
    ),
    ...part(addLateChanges, lateChangeOf),
    ...addNotifications(tx, notificationsIn(changes), lease),
    ...part(customerMessages, ({ update }) =>
      update?.messages.map(message => ({ ...message, isKept: inbox?.keeps(message) ?? false })),
    ),
  ]
  if (parts.length === 0) return undefined
  return groupStatement(parts, leasedDeliveries(parts))
}

// The day of a payment is summed for reports two hours after it ended. A payment of that day that changes later, by status
// or payment method, makes the sums stale.
const lateAfterMs = 100 * 60_000

function lateChangeOf({ before, after }: PaymentChange): LateChange | undefined {
  const isCounted = before.status !== after.status || before.payment_method !== after.payment_method
  const { created_at, updated_at } = after
  if (!isCounted || updated_at.getTime() - created_at.getTime() < lateAfterMs) return undefined
  return { ...after, changed_at: updated_at }
}

const notificationsIn = (changes: readonly PaymentChange[]) =>
  changes.flatMap(({ update }) => update?.notification ?? [])

const messagesIn = (changes: readonly PaymentChange[]) =>
  changes.flatMap(({ update }) => update?.messages ?? [])

async function dispatchWritten(
  { dispatch, inbox, observeStatuses }: LocalWorkers,
  { changes, deliveries, messages, reservation, leased }: CommitWrites,
) {
  observeStatuses?.(changes)
  const dispatched = reservation ? await leased : []
  reservation?.confirm(dispatched)
  if (dispatched.length < deliveries) dispatch?.undispatched()
  if (messages.length > 0) inbox?.written(messages)
}

function reportUnknownOutcome({ dispatch }: LocalWorkers, { reservation }: CommitWrites) {
  reservation?.outcomeUnknown()
  dispatch?.undispatched()
}

// After a commit that added notifications or messages. The commit has woken the workers of this process; without these
// workers, other nodes are woken.
export function wakeDispatchers({ localWorkers, wake }: Pick<PaymentDeps, 'localWorkers' | 'wake'>) {
  if (!localWorkers.dispatch || !localWorkers.inbox) wake('senders')
}
