import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { mostIn } from '../../core/merchant/totalLimit.ts'
import type { Mode } from '../../core/mode.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { decisionOf, refundEvent } from '../../core/refund/applyRefundReply.ts'
import { decideRefundAmount, withinDailyLimit } from '../../core/refund/ceiling.ts'
import type { Refund, RefundFault, RefundSource } from '../../core/refund/refund.ts'
import { firstRefundPoll } from '../../core/refund/refundSchedule.ts'
import { startOfDay } from '../../core/zone.ts'
import { withShortDeadline } from '../../runtime/deadline.ts'
import { newRefundReference } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { isAlreadyThere } from '../../store/databaseErrors.ts'
import type { Tx } from '../../store/db.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import type { LockedPayment } from '../../store/payments/paymentLife.ts'
import { findPayments } from '../../store/payments/payments.ts'
import { findRefundById, findRefundByReference } from '../../store/refunds/merchantRefunds.ts'
import { refundedSince } from '../../store/refunds/refunds.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { wakeDispatchers } from '../payments/writeChanges.ts'
import { callRefund } from './callRefund.ts'
import { changeRefund, refundChangeOf, readCharge, type StoredCharge } from '../payments/refundedCharge.ts'

export type RefundRequest = {
  merchant_id: string
  mode: Mode
  payment: { invoice_id: string } | { tx_reference: string }
  attempt_number?: number // by default the charge that paid the payment
  refund_id: string | null
  refund_reference?: string // by default a new one; a second request with the same one creates nothing
  amount: bigint | 'left' // `left`: everything that is left of the source
  source: RefundSource
  reason: string
  by: { requested_by: 'merchant' } | { requested_by: 'operator'; operator: string }
}
export type CreateRefundResult = { done: 'created' | 'repeated'; refund: Refund } | RefundFault

// Stores a refund and sends it to the provider. It is stored and committed first: if this process dies, a worker sends it. If
// the provider replies soon, the result has the state after the reply; otherwise the call continues.
export const createRefund = (deps: PaymentDeps, request: RefundRequest): Promise<CreateRefundResult> =>
  createPermittedRefund<never>(deps, request, () => Promise.resolve(undefined))

// `permit` runs in the transaction that stores the refund, under the payment's lock, once the amount is decided. If it
// returns a reason, nothing is stored.
export async function createPermittedRefund<Denied extends { fault: string }>(
  deps: PaymentDeps,
  request: RefundRequest,
  permit: Permit<Denied>,
): Promise<CreateRefundResult | Denied> {
  const result = await storeAndWake(deps, request, 'this_process', permit)
  if ('fault' in result || result.done === 'repeated' || result.refund.kind === 'manual') return result
  // Without a reply the refund stays due, and a worker continues.
  await withShortDeadline(callRefund(deps, result.refund).catch(() => {}))
  return { ...result, refund: (await findRefundByReference(deps.db, result.refund)) ?? result.refund }
}

type Permit<Denied> = (tx: Tx, refund: Refund) => Promise<Denied | undefined>

// Stores a refund. By default a worker of the gateway sends it: a command may run where the provider does not accept calls.
export const requestRefundLater = (deps: PaymentDeps, request: RefundRequest): Promise<CreateRefundResult> =>
  requestPermittedRefundLater<never>(deps, request, () => Promise.resolve(undefined))

export const requestPermittedRefundLater = <Denied extends { fault: string }>(
  deps: PaymentDeps,
  request: RefundRequest,
  permit: Permit<Denied>,
): Promise<CreateRefundResult | Denied> => storeAndWake(deps, request, 'worker', permit)

async function storeAndWake<Denied extends { fault: string }>(
  deps: PaymentDeps,
  request: RefundRequest,
  sentBy: 'worker' | 'this_process',
  permit: Permit<Denied>,
): Promise<CreateRefundResult | Denied> {
  requireOriginal(deps, request.mode)
  const key = await paymentKeyOf(deps, request)
  if (!key) return { fault: 'no_such_payment' }
  const { refund_reference = newRefundReference(request.merchant_id) } = request
  const store = () => storeRefund(deps, key, request, { refund_reference, sentBy, permit })
  // The same refund_id was stored for another payment at the same moment: the second try finds it.
  const result = await store().catch((error: unknown) => {
    if (!isAlreadyThere(error)) throw error
    return store()
  })
  if ('done' in result && result.done === 'created') {
    wakeDispatchers(deps)
    if (sentBy === 'worker') deps.wake('pollers')
  }
  return result
}

async function paymentKeyOf(
  { db }: PaymentDeps,
  { merchant_id, mode, payment }: RefundRequest,
): Promise<PaymentKey | undefined> {
  if ('tx_reference' in payment) return { merchant_id, tx_reference: payment.tx_reference }
  const [found] = await findPayments(db, [{ merchant_id, mode, invoice_id: payment.invoice_id }])
  return found && { merchant_id, tx_reference: found.tx_reference }
}

type Storing<Denied> = {
  refund_reference: string
  sentBy: 'worker' | 'this_process'
  permit: Permit<Denied>
}

// The payment's lock serializes the refunds of a payment: two nodes and a double click store one.
const storeRefund = async <Denied>(
  deps: PaymentDeps,
  key: PaymentKey,
  request: RefundRequest,
  { refund_reference, sentBy, permit }: Storing<Denied>,
): Promise<CreateRefundResult | Denied> => {
  const now = deps.clock()
  const stored = await changeRefund<CreateRefundResult | Denied>(deps, key, async (tx, payment) => {
    if (payment.mode !== request.mode) return { answer: { fault: 'no_such_payment' } }
    const repeated = await findRepeated(tx, payment, request)
    if (repeated) return { answer: repeated }
    const { charge, refunds } = await readCharge(tx, payment, attemptOf(payment, request))
    const own = refunds.find(one => one.refund_reference === refund_reference)
    // Without a given reference, this is the second run after a lost commit.
    if (own) return { answer: { done: request.refund_reference ? 'repeated' : 'created', refund: own } }
    if (!charge) return { answer: { fault: 'not_paid' } }
    const guarded = deps.providerAccounts.findFor(charge.attempt)
    const decided = await decideAmount(deps, tx, payment, charge, request)
    if ('fault' in decided) return { answer: decided }
    const isManual = guarded !== undefined && !guarded.refunds
    const refund: Refund = {
      ...newRefund(payment, charge.attempt, request, now),
      refund_reference,
      amount: decided.amount,
      ...(isManual
        ? { kind: 'manual', state: 'needs_action', state_reason: manualReason, next_poll_at: null }
        : { next_poll_at: sentBy === 'worker' ? now : firstRefundPoll(now, guarded?.refunds?.timing) }),
    }
    const denied = await permit(tx, refund)
    if (denied) return { answer: denied }
    const tasks = isManual ? [{ kind: 'refund_needs_action' as const, note: manualReason }] : []
    const decision = decisionOf(charge, undefined, refund, tasks, request.by.requested_by, now)
    const requested = refundEvent(
      { ...refund, state: 'requested' },
      charge.attempt,
      request.by.requested_by,
      now,
    )
    const events = isManual ? [requested, ...decision.events] : decision.events
    return {
      answer: { done: 'created', refund },
      attempt: charge.attempt,
      change: refundChangeOf(payment, undefined, { ...decision, events }, now),
    }
  })
  return stored ?? { fault: 'no_such_payment' }
}

const manualReason =
  'The provider has no refund call for this charge: pay it back by other means, then record it.'

async function findRepeated(
  tx: Tx,
  { tx_reference }: LockedPayment,
  { merchant_id, mode, refund_id, amount, reason }: RefundRequest,
): Promise<CreateRefundResult | undefined> {
  if (refund_id === null) return undefined
  const stored = await findRefundById(tx, { merchant_id, mode, refund_id })
  if (!stored) return undefined
  const isSame =
    stored.tx_reference === tx_reference &&
    (amount === 'left' || stored.amount === amount) &&
    stored.reason === reason
  return isSame ? { done: 'repeated', refund: stored } : { fault: 'other_fields', stored }
}

const attemptOf =
  ({ paid_attempt_id }: LockedPayment, { attempt_number }: RefundRequest) =>
  ({ attempt_id, number }: Attempt) =>
    attempt_number === undefined ? attempt_id === paid_attempt_id : number === attempt_number

// The merchant's settings apply to the merchant only. The daily limit is read last, because it takes a lock.
async function decideAmount(
  { clock, providerAccounts, timeZone }: PaymentDeps,
  tx: Tx,
  payment: LockedPayment,
  charge: StoredCharge,
  { amount: requested, source, by, mode, merchant_id }: RefundRequest,
): Promise<{ amount: bigint } | RefundFault> {
  const now = clock()
  const terms = providerAccounts.findFor(charge.attempt)?.refunds
  const settings = readMerchantSettings(payment.merchant_settings)
  const isMerchant = by.requested_by === 'merchant'
  if (isMerchant && mode === 'live' && !settings.refunds) return { fault: 'not_allowed' }
  if (charge.hasOtherCurrency) return { fault: 'not_allowed' }
  const decided = decideRefundAmount(requested, source, charge, terms, now)
  const limit = isMerchant ? settings.refund_daily_limit : null
  if ('fault' in decided || limit === null) return decided
  const { currency } = payment
  const since = startOfDay(now, timeZone)
  const refunded = await refundedSince(tx, { merchant_id, mode, currency, since })
  return withinDailyLimit(decided.amount, refunded, mostIn(limit, currency)) ?? decided
}

export type RefundablePart = { payment: LockedPayment; attempt: Attempt; amount: bigint }

// What a request would refund now, in a transaction that has locked the payment. Nothing is stored.
export async function refundablePart(
  deps: PaymentDeps,
  tx: Tx,
  payment: LockedPayment,
  request: RefundRequest,
): Promise<RefundablePart | RefundFault> {
  if (payment.mode !== request.mode) return { fault: 'no_such_payment' }
  const { charge } = await readCharge(tx, payment, attemptOf(payment, request))
  if (!charge) return { fault: 'not_paid' }
  const decided = await decideAmount(deps, tx, payment, charge, request)
  return 'fault' in decided ? decided : { payment, attempt: charge.attempt, amount: decided.amount }
}

function newRefund(
  { merchant_id, tx_reference, invoice_id, mode, currency }: LockedPayment,
  { attempt_id, provider_account, account_identity }: Attempt,
  { refund_id, source, reason, by }: RefundRequest,
  now: Date,
): Omit<Refund, 'refund_reference' | 'amount'> {
  return {
    merchant_id,
    refund_id,
    mode,
    tx_reference,
    invoice_id,
    attempt_id,
    source,
    kind: 'provider',
    provider_account,
    account_identity,
    idempotency_key: null,
    currency,
    reason,
    requested_by: by.requested_by,
    operator: by.requested_by === 'operator' ? by.operator : null,
    state: 'requested',
    state_reason: '',
    provider_ref: null,
    provider_code: null,
    sends: 0,
    sent_at: null,
    acknowledged_at: null,
    polls: 0,
    next_poll_at: null,
    recorded_by: null,
    recorded_reference: null,
    succeeded_at: null,
    created_at: now,
    updated_at: now,
    ended_at: null,
  }
}
