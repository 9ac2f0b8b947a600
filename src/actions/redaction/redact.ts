import { customerMessageIds } from '../../core/message/message.ts'
import { type Attempt, isUnresolved } from '../../core/payment/attempt.ts'
import {
  addressWithoutPayer,
  bodyWithoutPayer,
  maskedOnly,
  type Person,
  spellingsOf,
  withoutPayer,
} from '../../core/redaction/redact.ts'
import { bisectBatch, createSkippedRows, type OnSkippedRow } from '../../runtime/skippedRows.ts'
import { isUnavailable } from '../../store/databaseErrors.ts'
import { isOpenRefund } from '../../core/refund/refund.ts'
import type { Db, Tx } from '../../store/db.ts'
import { attemptsOfMany } from '../../store/payments/attempts.ts'
import { selectByKeys, takePayments } from '../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { refundsOfPayments } from '../../store/refunds/merchantRefunds.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import {
  bodiesOf,
  closingNotesOf,
  deliveriesOf,
  endedBefore,
  type EndedPayment,
  redactPayments,
  tasksOfAttempts,
  unsentOf,
} from '../../store/redaction/redaction.ts'

const batch = 200
const dayMs = 24 * 3_600_000

export type RedactionWatch = { redacted(count: number): void; leftOut: OnSkippedRow }

// Removes personal data `days` after payments ended. Each call handles one batch and returns its size; after 0 it starts
// again with the oldest. Payments with anything open are skipped until the next round, so they do not block later ones.
export function createRedaction(db: Db, days: number, watch: RedactionWatch) {
  let after: EndedPayment | undefined
  return async (now: Date): Promise<number> => {
    const before = new Date(now.getTime() - days * dayMs)
    const found = await endedBefore(db, before, after, batch)
    const redacted = found.length > 0 ? await redactBatch(db, found, { before, now }, watch.leftOut) : 0
    after = found.at(-1)
    if (redacted > 0) watch.redacted(redacted)
    return found.length
  }
}

type Times = { before: Date; now: Date }

async function redactBatch(db: Db, keys: readonly PaymentKey[], times: Times, onSkipped: OnSkippedRow) {
  const redactSome = async (some: readonly PaymentKey[]) =>
    (await takePayments(db, selectByKeys(some), (tx, payments) => redactLocked(tx, payments, times))).length
  try {
    return await redactSome(keys)
  } catch (error) {
    if (isUnavailable(error)) throw error
    const skipped = createSkippedRows(onSkipped)
    const redacted = await bisectBatch(keys, redactSome, skipped)
    skipped.report()
    return redacted
  }
}

// The payments are locked, so no attempt or delivery is added meanwhile.
async function redactLocked(tx: Tx, locked: readonly PaymentWithMerchant[], { before, now }: Times) {
  const ended = locked.filter(
    ({ status, updated_at, redacted_at }) =>
      status !== 'awaiting_payment' && updated_at < before && redacted_at === null,
  )
  if (ended.length === 0) return []
  const found = await gather(tx, ended)
  const payments = ended.filter(payment => !found.open.has(paymentName(payment)))
  if (payments.length > 0) await redactPayments(tx, withoutPayers(payments, found), now)
  return payments
}

type Found = Awaited<ReturnType<typeof gather>>

// Why a payment keeps its personal data for now.
export type KeptBecause = 'not_ended' | 'refund' | 'attempt' | 'task' | 'notification' | 'message'
export type ErasedPayment = PaymentKey & { keptBecause?: KeptBecause }

// Removes the personal data of these payments at once, at the request of the person. A payment that is locked at the moment
// is in none of the results, so the caller asks again.
export const erasePayments = (
  db: Db,
  keys: readonly PaymentKey[],
  person: Person,
  now: Date,
): Promise<readonly ErasedPayment[]> =>
  takePayments(db, selectByKeys(keys), async (tx, locked): Promise<readonly ErasedPayment[]> => {
    if (locked.length === 0) return []
    const found = await gather(tx, locked)
    const results = locked.map(payment => ({
      payment,
      keptBecause: mayStillBePaid(payment, now) ? 'not_ended' : found.open.get(paymentName(payment)),
    }))
    const erased = results.flatMap(({ payment, keptBecause }) => (keptBecause ? [] : [payment]))
    if (erased.length > 0) await redactPayments(tx, withoutPayers(erased, found, person), now)
    return results.map(({ payment: { merchant_id, tx_reference }, keptBecause }) => ({
      merchant_id,
      tx_reference,
      keptBecause,
    }))
  })

const mayStillBePaid = ({ status, expires_at }: PaymentWithMerchant, now: Date) =>
  status === 'awaiting_payment' || (status !== 'paid' && expires_at > now)

async function gather(tx: Tx, payments: readonly PaymentWithMerchant[]) {
  const attempts = await attemptsOfMany(tx, payments)
  const tasks = await tasksOfAttempts(tx, attempts)
  const deliveries = await deliveriesOf(tx, payments)
  const refunded = payments.filter(({ refunded_amount }) => refunded_amount !== null)
  const refunds = refunded.length > 0 ? await refundsOfPayments(tx, refunded) : undefined
  const messages = payments.flatMap(payment => {
    const references = (refunds?.get(paymentName(payment)) ?? []).map(refund => refund.refund_reference)
    return customerMessageIds(payment.tx_reference, references).map(message_id => ({
      ...payment,
      message_id,
    }))
  })
  const foundRefunds = [...(refunds?.values() ?? [])].flat()
  const open = new Map<string, KeptBecause>()
  const keep = (keys: readonly PaymentKey[], because: KeptBecause) => {
    for (const key of keys) open.set(paymentName(key), because)
  }
  keep(await unsentOf(tx, messages), 'message')
  keep(deliveriesWaiting(deliveries), 'notification')
  keep(
    tasks.filter(({ closed_at }) => closed_at === null),
    'task',
  )
  keep(foundRefunds.filter(isOpenRefund), 'refund')
  keep(attempts.filter(isUnresolved), 'attempt')
  const bodies = await bodiesOf(tx, payments)
  const notes = await closingNotesOf(tx, payments)
  return {
    attempts,
    refunds: foundRefunds,
    tasks,
    deliveries,
    messages,
    bodies,
    notes,
    open,
  }
}

const deliveriesWaiting = <D extends { next_try_at: Date | null }>(all: readonly D[]) =>
  all.filter(({ next_try_at }) => next_try_at !== null)

// The values to store.
function withoutPayers(payments: readonly PaymentWithMerchant[], found: Found, person?: Person) {
  const attempts = new Map<string, Attempt[]>(payments.map(payment => [paymentName(payment), []]))
  for (const attempt of found.attempts) attempts.get(paymentName(attempt))?.push(attempt)
  const spellings = new Map(
    payments.map(payment => [
      paymentName(payment),
      spellingsOf(
        payment,
        attempts.get(paymentName(payment))?.map(({ instrument }) => instrument),
        person,
      ),
    ]),
  )
  const patternOf = (key: PaymentKey) => spellings.get(paymentName(key))
  const isRedacted = (key: PaymentKey) => spellings.has(paymentName(key))
  return {
    payments: payments.map(payment => ({
      ...payment,
      payment_instrument: maskedOnly(payment.payment_instrument),
      ipn_url: payment.ipn_url && addressWithoutPayer(payment.ipn_url, patternOf(payment)),
    })),
    attempts: found.attempts.filter(isRedacted),
    bodies: found.bodies.filter(isRedacted).map(one => ({ ...one, body: bodyWithoutPayer(one.body) })),
    deliveries: found.deliveries
      .filter(isRedacted)
      .map(sent => ({ ...sent, url: addressWithoutPayer(sent.url, patternOf(sent)) })),
    refunds: found.refunds.filter(isRedacted).map(refund => ({
      ...refund,
      reason: withoutPayer(refund.reason, patternOf(refund)),
      state_reason: withoutPayer(refund.state_reason, patternOf(refund)),
    })),
    tasks: found.tasks.filter(isRedacted).map(task => ({
      ...task,
      note: withoutPayer(task.note, patternOf(task)),
      closed_note: task.closed_note && withoutPayer(task.closed_note, patternOf(task)),
    })),
    notedTasks: found.tasks.filter(task => isRedacted(task) && task.owner_note !== ''),
    notes: found.notes
      .filter(isRedacted)
      .map(note => ({ ...note, reason: withoutPayer(note.reason, patternOf(note)) })),
    messages: found.messages.filter(isRedacted),
  }
}
