import type { Attempt } from './attempt.ts'
import type { Cause, EventKind, NewEvent } from './event.ts'
import type { Payment } from './payment.ts'
import type { MoneyBackChange } from './moneyBack.ts'
import type { Task, TaskKind } from './task.ts'

// What has to be saved together, in one commit.
export type Change = {
  payment: Payment
  attempt: Attempt
  events: NewEvent[]
  tasks: Task[]
  moneyBack?: MoneyBackChange // refunds and disputes of the attempt
}
// What others see of it, once it is saved.
export type StatusUpdate = Omit<Change, 'payment'>

export function event(
  kind: EventKind,
  cause: Cause,
  attempt: Attempt | null,
  reason: string,
  at: Date,
): NewEvent {
  return {
    kind,
    cause,
    attempt_id: attempt?.attempt_id ?? null,
    from_status: null,
    to_status: null,
    reason,
    at,
  }
}

export function statusEvent(
  from: Payment,
  to: Payment,
  cause: Cause,
  attempt: Attempt | null,
  at: Date,
): NewEvent {
  const changed = event('status_changed', cause, attempt, to.status_reason, at)
  return { ...changed, from_status: from.status, to_status: to.status }
}

export function task(
  { tx_reference }: Payment,
  { merchant_id, attempt_id }: Attempt,
  kind: TaskKind,
  { amount, currency }: Pick<Task, 'amount' | 'currency'>,
  note: string,
  created_at: Date,
): Task {
  const open = { closed_at: null, closed_note: null }
  return { merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at, ...open }
}
