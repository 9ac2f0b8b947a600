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
