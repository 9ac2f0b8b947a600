import { firstPollAfter, furthestPollMs, overdueAfterMs, pollGap } from '../payment/pollSchedule.ts'
import type { ProviderTiming } from '../provider/provider.ts'
import { isOpenRefund, type Refund } from './refund.ts'

const minute = 60_000
const hour = 60 * minute
const longestGapMs = hour
const slowAfterMs = 24 * hour

// A refund to a card or a bank account takes days: this long, `pending` is no reason for a task.
const pendingForMs = 10 * 24 * hour

// A failed refund is polled again: some succeed later, and the webhook for that may be lost.
const followUps = [2 * minute, 15 * minute, 2 * hour, 24 * hour]

// The process that stores a refund also sends it. A worker sends it only if that process has died.
export const firstRefundPoll = (now: Date, timing?: ProviderTiming) =>
  new Date(now.getTime() + firstPollAfter(timing))

// When to poll a refund after a reply at `now`; null if nothing can change any more. Polling never ends while the outcome
// is unknown.
export function nextRefundPoll(refund: Refund, now: Date, timing?: ProviderTiming): Date | null {
  if (refund.kind === 'manual') return null
  if (refund.state === 'failed') return nextFollowUp(refund, now)
  if (!isOpenRefund(refund)) return null
  const age = now.getTime() - refund.created_at.getTime()
  const gap = age >= slowAfterMs ? longestGapMs : pollGap(refund.polls, timing)
  return new Date(now.getTime() + (refund.state === 'needs_action' ? longestGapMs : gap))
}

function nextFollowUp({ ended_at, sent_at }: Refund, now: Date): Date | null {
  if (!ended_at || !sent_at) return null
  const sinceMs = now.getTime() - ended_at.getTime()
  const next = followUps.find(afterMs => afterMs > sinceMs)
  return next === undefined ? null : new Date(ended_at.getTime() + next)
}

// The refund has been open for so long that an operator has to look.
export const isOverdueRefund = ({ state, created_at }: Refund, now: Date) => {
  const limitMs = { requested: overdueAfterMs, unknown: overdueAfterMs, pending: pendingForMs }
  const afterMs = state in limitMs ? limitMs[state as keyof typeof limitMs] : Infinity
  return now.getTime() - created_at.getTime() >= afterMs
}

// No poll of a refund is scheduled later than this. A later one was written by a clock that was set back since.
export const furthestRefundPollMs = {
  open: longestGapMs + minute,
  failed: 24 * hour + furthestPollMs.unresolved,
}
