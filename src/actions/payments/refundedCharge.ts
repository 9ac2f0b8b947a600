import type { Attempt } from '../../core/payment/attempt.ts'
import type { RefundDecision, RefundSubject } from '../../core/refund/applyRefundReply.ts'
import type { Refund } from '../../core/refund/refund.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { moneyBackOf } from '../../store/payments/moneyBack.ts'
import {
  type LockedPayment,
  lockPayment,
  type PaymentWithMerchant,
} from '../../store/payments/paymentLife.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import { changeOf, type PaymentChange, writeChanges } from './writeChanges.ts'

// A charge with everything that decides about its refunds. `hasOtherCurrency`: the provider charged in another currency than
// requested, which cannot be refunded from here.
export type StoredCharge = RefundSubject & { hasOtherCurrency: boolean }

type ChargeOfPayment = { charge: StoredCharge | undefined; refunds: Refund[] }

// The caller has locked the payment's row, so nothing of this changes until its commit.
export async function readCharge(
  tx: Tx,
  payment: PaymentWithMerchant,
  isCharge: (attempt: Attempt) => boolean,
): Promise<ChargeOfPayment> {
  const { merchant_id, tx_reference } = payment
  const attempt = (await attemptsOf(tx, merchant_id, tx_reference)).find(isCharge)
  const refunds = await refundsOfPayment(tx, payment)
  if (!attempt) return { charge: undefined, refunds }
  const moneyBack = await moneyBackOf(tx, attempt)
  const tasks = (await tasksOf(tx, merchant_id, tx_reference)).filter(
    ({ attempt_id }) => attempt_id === attempt.attempt_id,
  )
  const openTasks = tasks.filter(({ closed_at }) => closed_at === null).map(({ kind }) => kind)
  const hasOtherCurrency =
    attempt.state !== 'paid' &&
    tasks.some(({ kind, currency }) => kind === 'amount_mismatch' && currency !== payment.currency)
  return { refunds, charge: { payment, attempt, refunds, moneyBack, openTasks, hasOtherCurrency } }
}

export async function chargeOfRefund(
  tx: Tx,
  payment: PaymentWithMerchant,
  refund: Pick<Refund, 'attempt_id'>,
): Promise<StoredCharge> {
  const { charge } = await readCharge(tx, payment, ({ attempt_id }) => attempt_id === refund.attempt_id)
  if (!charge) throw new Error('a refund without its charge')
  return charge
}

// Decides about a refund in a transaction that has locked its payment. Undefined if the payment does not exist.
export async function changeRefund<Answer>(
  { db, localWorkers, watch }: Pick<PaymentDeps, 'db' | 'localWorkers' | 'watch'>,
  key: PaymentKey,
  decide: (
    tx: Tx,
    payment: LockedPayment,
  ) => Promise<{ answer: Answer; change?: PaymentChange; attempt?: Attempt }>,
): Promise<Answer | undefined> {
  const done = await writeChanges(db.withQuota('refunds'), localWorkers, async (tx, write) => {
    const payment = await lockPayment(tx, key)
    if (!payment) return undefined
    const { answer, change, attempt } = await decide(tx, payment)
    const tasks = change ? await write([change]) : []
    return { answer, update: change && attempt && { attempt, events: [...change.events], tasks } }
  })
  if (done?.update) watch(done.update)
  return done?.answer
}

// What a decision about a refund writes.
export function refundChangeOf(
  payment: PaymentWithMerchant,
  before: Refund | undefined,
  { payment: after, attempt, endedAttempt, refund, events, tasks, closes, claimed }: RefundDecision,
  now: Date,
): PaymentChange {
  const { attempt_id } = refund
  return {
    ...changeOf(payment, after, events),
    repliedAttempt: endedAttempt,
    refund: { before, after: refund },
    refundedCharge: attempt,
    claimedReversals: claimed,
    tasks,
    closedTasks: closes.map(({ kind, note }) => ({ attempt_id, kind, note, closed_at: now })),
  }
}
