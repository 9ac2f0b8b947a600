import { withAttempt } from './applyReply.ts'
import type { Attempt } from './attempt.ts'
import { event, statusEvent } from './change.ts'
import type { Cause, NewEvent } from './event.ts'
import { move, type Payment } from './payment.ts'

// A new attempt stands in the books: the payment tells of it from now on, and waits for it again where it had failed.
export function begin<P extends Payment>(
  payment: P,
  attempt: Attempt,
  cause: Cause,
): { payment: P; events: NewEvent[] } {
  const now = attempt.created_at
  const events = [event('attempt_started', cause, attempt, '', now)]
  const begun = withAttempt(payment, attempt)
  const moved = move(begun, 'awaiting_payment', '', now)
  if (moved) events.push(statusEvent(payment, moved, cause, attempt, now))
  return { payment: moved ?? { ...begun, updated_at: now }, events }
}
