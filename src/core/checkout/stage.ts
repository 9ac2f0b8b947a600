import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import { submissionsLeft } from '../payment/customerActs.ts'
import type { Obstacle } from '../payment/mayStart.ts'
import type { Payment } from '../payment/payment.ts'

// What the checkout page shows.
export type Stage =
  | 'choose' // a payment method
  | 'wait' // for the provider's reply
  | 'step' // the provider asks for input, and a submission is left
  | 'disputed' // the amount does not match; a person looks into it
  | 'failed' // a new attempt is possible
  | 'over' // no new attempt is possible
  | 'expired'
  | 'cancelled'
  | 'paid'
  | 'closed' // the merchant accepts no payments at the moment

export function stageOf(
  payment: Payment,
  attempts: readonly Attempt[],
  against: Obstacle | undefined,
): Stage {
  if (payment.status === 'paid') return 'paid'
  if (payment.status === 'cancelled' || payment.cancel_requested_at) return 'cancelled'
  const unresolved = attempts.find(isUnresolved)
  if (unresolved?.state === 'needs_input' && !unresolved.gave_up_at && submissionsLeft(unresolved) > 0)
    return 'step'
  if (unresolved) return unresolved.state === 'disputed' ? 'disputed' : 'wait'
  if (against === 'expired') return 'expired'
  if (against === 'closed') return 'closed'
  if (payment.status === 'failed') return against && against !== 'too_soon' ? 'over' : 'failed'
  return against === 'too_many' ? 'over' : 'choose'
}

type Ended = Pick<Payment, 'status' | 'updated_at' | 'cancel_requested_at'>

// A phone may sleep, or show the wallet's page, while the payment ends. Within this time its page may still redirect.
const redirectWithinMs = 15 * 60_000
export const maxRedirects = 4 // of one payment: enough for several open pages, too few to be abused by a shared link

// The time at which the checkout ended for the customer. A late payment changes it.
export function endedAt({ status, updated_at, cancel_requested_at }: Ended): Date | undefined {
  return status === 'paid' || status === 'cancelled' ? updated_at : (cancel_requested_at ?? undefined)
}

// Whether an open page may redirect to the shop.
export function mayRedirect(payment: Ended, now: Date): boolean {
  const ended = endedAt(payment)
  return ended !== undefined && now.getTime() - ended.getTime() < redirectWithinMs
}
