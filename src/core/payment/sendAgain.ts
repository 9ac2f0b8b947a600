import { type Attempt, isAcknowledged, isUnresolved } from './attempt.ts'
import type { Payment } from './payment.ts'
import { resendForMs } from './pollSchedule.ts'

type Subject = Pick<Payment, 'status' | 'cancel_requested_at'>

// Only while the customer may still be there, and wants to pay with it.
export const isOverForSending = (
  payment: Subject,
  { created_at, gave_up_at }: Pick<Attempt, 'created_at' | 'gave_up_at'>,
  now: Date,
) =>
  payment.status !== 'awaiting_payment' ||
  payment.cancel_requested_at !== null ||
  gave_up_at !== null ||
  now.getTime() - created_at.getTime() >= resendForMs

// An order goes to its provider once. Again, only where nobody can be charged twice by that: for certain it never left, or
// its provider has not acknowledged it and takes the same order twice for one; then once.
export function maySendAgain(
  payment: Subject,
  attempt: Attempt,
  startIsIdempotent: boolean,
  now: Date,
): boolean {
  if (!isUnresolved(attempt) || isAcknowledged(attempt)) return false
  if (isOverForSending(payment, attempt, now)) return false
  return attempt.state === 'not_sent' || (startIsIdempotent && attempt.resent_at === null)
}

// The attempt as it has to stand in the books before the order leaves: whether it has left is not known from here on.
export const sentAgain = (attempt: Attempt, now: Date): Attempt =>
  attempt.state === 'not_sent'
    ? { ...attempt, state: 'started', sends: attempt.sends + 1, updated_at: now }
    : { ...attempt, resent_at: now, sends: attempt.sends + 1, updated_at: now }
