import { type Attempt, feeBorneByCustomer } from '../payment/attempt.ts'
import type { MoneyBack } from '../payment/change.ts'
import type { Payment } from '../payment/payment.ts'
import { holdsAmount, type Refund, type RefundFault, type RefundSource } from './refund.ts'

// A charge with everything that has gone back of it, or may.
export type ChargeState = {
  payment: Pick<Payment, 'total' | 'paid_attempt_id'>
  attempt: Pick<Attempt, 'attempt_id' | 'state' | 'charged' | 'fee' | 'created_at' | 'ended_at'>
  refunds: readonly Refund[] // of the payment
  moneyBack: MoneyBack // of the attempt
}

// An attempt took money if it is paid, or if the provider reported another amount than requested.
export const isCharge = ({ state, charged }: Pick<Attempt, 'state' | 'charged'>) =>
  state === 'paid' || charged !== null

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)
const atLeastZero = (amount: bigint) => (amount > 0n ? amount : 0n)
const lesser = (a: bigint, b: bigint) => (a < b ? a : b)

export const chargedOf = ({ attempt, payment }: Pick<ChargeState, 'attempt' | 'payment'>) =>
  attempt.charged ?? payment.total

const isPaying = ({ payment, attempt }: ChargeState) => payment.paid_attempt_id === attempt.attempt_id

// What the whole charge consists of. The paying charge consists of the payment's amount, of the fee that the provider
// added, and of a surplus. Another charge belongs to no payment: all of it is surplus.
function partOf(source: RefundSource, charge: ChargeState): bigint {
  const charged = chargedOf(charge)
  if (!isPaying(charge)) return source === 'surplus' ? charged : 0n
  const { total } = charge.payment
  const fee = feeBorneByCustomer(total, charged, charge.attempt.fee)
  const parts = { payment: lesser(total, charged), surplus: atLeastZero(charged - total - fee), fee }
  return parts[source]
}

const ofCharge = ({ attempt, refunds }: ChargeState) =>
  refunds.filter(({ attempt_id }) => attempt_id === attempt.attempt_id)

// Reversals, and disputes that are open or lost. A reversal that is one of our refunds is not counted here.
const takenBack = ({ reversals, disputes }: MoneyBack) =>
  sumOf(reversals.filter(({ refund_reference }) => !refund_reference)) +
  sumOf(disputes.filter(({ state }) => state !== 'won'))

// How much of this source can be refunded. All refunds of a charge together never exceed the charge.
export function leftToRefund(source: RefundSource, charge: ChargeState): bigint {
  const holding = ofCharge(charge).filter(holdsAmount)
  const taken = takenBack(charge.moneyBack)
  const ofSource =
    partOf(source, charge) -
    sumOf(holding.filter(refund => refund.source === source)) -
    (source === 'fee' ? 0n : taken)
  return atLeastZero(lesser(ofSource, chargedOf(charge) - sumOf(holding) - taken))
}

// More money went back than was charged, or than the sources of the refunds had. A provider may have made a refund after it
// reported the refund as failed.
export function exceedsCharge(charge: ChargeState): boolean {
  const succeeded = ofCharge(charge).filter(({ state }) => state === 'succeeded')
  const { reversals, disputes } = charge.moneyBack
  const lost = sumOf(disputes.filter(({ state }) => state === 'lost'))
  const gone = sumOf(reversals.filter(({ refund_reference }) => !refund_reference)) + lost
  const isOver = (source: RefundSource) =>
    sumOf(succeeded.filter(refund => refund.source === source)) > partOf(source, charge)
  return sumOf(succeeded) + gone > chargedOf(charge) || (['payment', 'surplus', 'fee'] as const).some(isOver)
}

// All of the charge went back, by refunds that succeeded and by reversals.
export function isReturned(charge: ChargeState): boolean {
  const succeeded = ofCharge(charge).filter(({ state }) => state === 'succeeded')
  const reversals = charge.moneyBack.reversals.filter(({ refund_reference }) => !refund_reference)
  return sumOf(succeeded) + sumOf(reversals) >= chargedOf(charge)
}

// The refund is all of the charge, and nothing of it went back before.
export const isWhole = (amount: bigint, charge: ChargeState, except?: Pick<Refund, 'refund_reference'>) =>
  amount === chargedOf(charge) &&
  takenBack(charge.moneyBack) === 0n &&
  !ofCharge(charge).some(one => holdsAmount(one) && one.refund_reference !== except?.refund_reference)

// The sum of the refunds that the status of a payment shows.
export const refundedAmountOf = (refunds: readonly Refund[]) =>
  sumOf(refunds.filter(({ state, source }) => state === 'succeeded' && source === 'payment'))

// What a provider requires of a refund.
export type RefundTerms = { hasPartial: boolean; withinMs?: number; minimum?: bigint }

const day = 24 * 60 * 60_000

// The amount to refund, or why it is refused. Without `terms` the refund is made by hand, or by a node that has the account.
export function decideRefundAmount(
  requested: bigint | 'left',
  source: RefundSource,
  charge: ChargeState,
  terms: RefundTerms | undefined,
  now: Date,
): { amount: bigint } | RefundFault {
  const { attempt } = charge
  if (!isCharge(attempt)) return { fault: 'not_paid' }
  const left = leftToRefund(source, charge)
  const amount = requested === 'left' ? left : requested
  if (amount <= 0n || amount > left) return { fault: 'more_than_left', left }
  if (!terms) return { amount }
  const { hasPartial, withinMs = Infinity, minimum = 0n } = terms
  if (now.getTime() - (attempt.ended_at ?? attempt.created_at).getTime() > withinMs)
    return { fault: 'too_old', days: Math.floor(withinMs / day) }
  if (amount < minimum) return { fault: 'below_minimum', minimum }
  if (!hasPartial && !isWhole(amount, charge)) return { fault: 'only_whole', amount: chargedOf(charge) }
  return { amount }
}

// What a merchant may still refund on this day; `refunded` is the sum so far.
export const withinDailyLimit = (amount: bigint, refunded: bigint, limit: bigint): RefundFault | undefined =>
  refunded + amount > limit ? { fault: 'over_daily_limit', left: atLeastZero(limit - refunded) } : undefined
