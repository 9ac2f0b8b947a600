import type { ProviderTiming } from '../provider/provider.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { event } from './change.ts'
import type { NewEvent } from './event.ts'
import type { Payment } from './payment.ts'
import { firstPollAfter } from './pollSchedule.ts'
import { submissionsLeft, submissionWaitMs } from './submissionLimit.ts'

export type Submitted = { attempt: Attempt; step: string; events: NewEvent[] }
// The customer has to wait before the next submission; nothing was submitted.
export type TooSoon = { waitMs: number }

// The customer has typed what the provider asked for. Undefined where nothing is asked for any more: an old page, a second
// click, a payment that was cancelled, or no submission left. The step is closed before it is carried on, so that it is carried on once; where
// the provider still asks for it, it is open again.
export function submit(
  payment: Pick<Payment, 'status' | 'cancel_requested_at'>,
  attempts: readonly Attempt[],
  { number, submits }: Pick<Attempt, 'number' | 'submits'>, // that the form was made for
  timing: ProviderTiming,
  now: Date,
): Submitted | TooSoon | undefined {
  const open = attempts.find(isUnresolved)
  if (!open?.step || open.state !== 'needs_input' || open.gave_up_at) return undefined
  if (open.number !== number || open.submits !== submits) return undefined
  if (payment.status !== 'awaiting_payment' || payment.cancel_requested_at) return undefined
  if (submissionsLeft(open) === 0) return undefined
  const waitMs = submissionWaitMs(open, now)
  if (waitMs > 0) return { waitMs }
  const attempt: Attempt = {
    ...open,
    state: 'pending',
    step: null,
    submits: open.submits + 1,
    submitted_at: now,
    next_poll_at: new Date(now.getTime() + firstPollAfter(timing)),
    updated_at: now,
  }
  const step = open.step.name
  return { attempt, step, events: [event('attempt_submitted', 'customer', attempt, step, now)] }
}
