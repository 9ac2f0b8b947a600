import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import type { Obstacle } from '../payment/mayStart.ts'
import type { Payment } from '../payment/payment.ts'
import { submissionsLeft } from '../payment/submissionLimit.ts'

// What the checkout page shows.
export type Stage =
  | 'choose' // a way to pay
  | 'wait' // for the provider's word
  | 'step' // the provider wants something typed, and the customer may submit it
  | 'disputed' // a person looks into it
  | 'failed' // and may be tried again
  | 'over' // failed for good
  | 'expired'
  | 'cancelled'
  | 'paid'
  | 'closed' // the merchant takes no payments now

export function stageOf(
  payment: Payment,
  attempts: readonly Attempt[],
  against: Obstacle | undefined,
): Stage {
  if (payment.status === 'paid') return 'paid'
  if (payment.status === 'cancelled' || payment.cancel_wished_at) return 'cancelled'
  const unresolved = attempts.find(isUnresolved)
  if (unresolved?.state === 'needs_input' && !unresolved.gave_up_at && submissionsLeft(unresolved) > 0)
    return 'step'
  if (unresolved) return unresolved.state === 'disputed' ? 'disputed' : 'wait'
  if (against === 'expired') return 'expired'
  if (against === 'closed') return 'closed'
  if (payment.status === 'failed') return against && against !== 'too_soon' ? 'over' : 'failed'
  return against === 'too_many' ? 'over' : 'choose'
}
