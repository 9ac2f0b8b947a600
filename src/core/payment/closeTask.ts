import { failed } from './applyReply.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { type Change, event } from './change.ts'
import type { Payment } from './payment.ts'
import { nextPoll } from './pollSchedule.ts'
import type { TaskKind } from './task.ts'

// What could not be written down, or was said of another order, says nothing about the money: it is asked about on.
const endsAttempt: Record<TaskKind, boolean> = {
  refund: false,
  amount_mismatch: true,
  reference_taken: true,
  unresolved: true,
  other_order: false,
  reversed: false,
  dispute_opened: false,
  dispute_lost: false,
  not_set_up: false,
  account_refused: false,
  unknown_code: false,
  not_recorded: false,
}

// A person has closed a task. An attempt that only that person waited for is given up, so that the payment can end or
// be tried again.
export function closeTask(
  payment: Payment,
  attempt: Attempt,
  kind: TaskKind,
  note: string,
  now: Date,
): Change & { gaveUp: boolean } {
  const closed = event('task_closed', 'operator', attempt, note, now)
  if (!endsAttempt[kind] || !isUnresolved(attempt))
    return { payment, attempt, events: [closed], tasks: [], gaveUp: false }
  const change = failed(payment, attempt, 'given_up', now, 'operator')
  // Where its yes is disputed the provider would only say the same again; where nothing is known it may yet speak.
  const next_poll_at = kind === 'unresolved' ? nextPoll(change.attempt, now) : null
  return {
    ...change,
    attempt: { ...change.attempt, next_poll_at },
    events: [closed, ...change.events],
    gaveUp: true,
  }
}
