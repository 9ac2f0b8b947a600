import { failAttempt } from './applyReply.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { type Change, event, type TaskKind } from './change.ts'
import type { Payment } from './payment.ts'
import { nextPoll } from './pollSchedule.ts'

// Closing one of these tasks also gives up its attempt. The other kinds do not concern the outcome of the attempt, so it is
// polled further.
const endsAttempt: ReadonlySet<TaskKind> = new Set(['amount_mismatch', 'reference_taken', 'unresolved'])

// An operator closes a task. If the attempt waited for that operator only, it is given up, so that the payment can end or
// be retried.
export function decideCloseTask(
  payment: Payment,
  attempt: Attempt,
  kind: TaskKind,
  note: string,
  now: Date,
): Change & { gaveUp: boolean } {
  const closed = event('task_closed', 'operator', attempt, note, now)
  if (!endsAttempt.has(kind) || !isUnresolved(attempt))
    return { payment, attempt, events: [closed], tasks: [], gaveUp: false }
  const change = failAttempt(payment, attempt, 'given_up', now, 'operator')
  // The provider repeats a disputed reply, so polling it is useless. It may still resolve an attempt of unknown outcome.
  const next_poll_at = kind === 'unresolved' ? nextPoll(change.attempt, now) : null
  return {
    ...change,
    attempt: { ...change.attempt, next_poll_at },
    events: [closed, ...change.events],
    gaveUp: true,
  }
}
