import { type Attempt, type GaveUpFor, isUnresolved } from './attempt.ts'
import { event } from './change.ts'
import type { NewEvent } from './event.ts'
import type { Payment } from './payment.ts'
import { defaultFirstPollMs } from './pollSchedule.ts'

export type GivenUp = { attempt: Attempt; events: NewEvent[] }

const words: Record<GaveUpFor, string> = {
  number: 'The number was wrong.',
  method: 'To pay another way.',
}

// The customer wishes to go on without the attempt of this number. It is a wish: only the provider's own answer ends the
// attempt, and a yes counts all the same. Undefined where there is nothing to wish for: it has ended, another is on its
// way by now, it was given up before, or a person looks into it.
export function giveUp(
  payment: Pick<Payment, 'status' | 'cancel_requested_at'>,
  attempts: readonly Attempt[],
  { number, gave_up_for }: { number: number; gave_up_for: GaveUpFor },
  now: Date,
): GivenUp | undefined {
  const open = attempts.find(isUnresolved)
  if (!open || open.number !== number || open.gave_up_at || open.state === 'disputed') return undefined
  if (payment.status !== 'awaiting_payment' || payment.cancel_requested_at) return undefined
  // Who gives it up asks the provider at once; a worker does when they died.
  const next_poll_at = new Date(now.getTime() + defaultFirstPollMs)
  const attempt = { ...open, gave_up_at: now, gave_up_for, next_poll_at, updated_at: now }
  return { attempt, events: [event('attempt_given_up', 'customer', attempt, words[gave_up_for], now)] }
}
