import type { ProviderTiming } from '../provider/provider.ts'
import { type Attempt, isUnresolved } from './attempt.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

// How long to wait before the next poll: short while the customer looks at the page, longer later. Polling never ends
// while the outcome is unknown. A provider may define its own gaps.
const usualGaps = [1, 1, 2, 2, 3, 4, 5, 5, 10, 10, 15, 15, 30, 30, 60, 60, 120, 120, 300].map(s => s * second)
const longestGap = 15 * minute

// A failed attempt is polled again: some become paid, and the callback for that may be lost. Each provider defines for
// how long.
const followUps = [20 * second, 2 * minute, 15 * minute, 2 * hour]
const lastFollowUp = 2 * hour // the gap of all later ones

// The process that sends a request waits for the reply itself. A worker polls only if that process has died.
export const defaultFirstPollMs = 8 * second
const writeMs = 3 * second // to store a reply that came at the last moment
export const returnGapMs = 5 * second // between two polls that a customer's returns from the provider's page cause
export const overdueAfterMs = 24 * hour // then a task is raised

export const firstPollAfter = ({ startTimeoutMs = 0 }: ProviderTiming = {}): number =>
  Math.max(defaultFirstPollMs, startTimeoutMs + writeMs)

// No poll makes sense before the provider's `firstPollMs`.
export function pollGap(
  polls: number,
  { firstPollMs = 0, pollGapsMs: gapsMs = usualGaps }: ProviderTiming = {},
): number {
  const gap = gapsMs[polls] ?? (gapsMs === usualGaps ? longestGap : (gapsMs.at(-1) ?? longestGap))
  return Math.min(longestGap, polls === 0 ? Math.max(gap, firstPollMs) : gap)
}

// The customer cannot approve a request after its end. The provider reports the end about then, by its own clock.
const closing = { afterMs: second, everyMs: 5 * second, forMs: minute }

// A customer who gave up the attempt waits for its end; one who submitted a step waits for the result. The gaps start
// again from here, and grow with the wait.
const shortestWaitMs = 2 * second

type PolledAttempt = Pick<Attempt, 'state' | 'polls' | 'ended_at' | 'gave_up_at' | 'submitted_at'> &
  Partial<Pick<Attempt, 'check_reversals'>>

// The provider's terms, when the request ends, and when "not found" becomes final.
type PollTerms = {
  endsAt?: Date
  absentAt?: Date
  failureMayReverseForMs?: number
  timing?: ProviderTiming
}

// A poll falls on the moment when "not found" becomes final, so that the customer does not wait for the next one.
function gapOf(attempt: PolledAttempt, now: Date, terms: PollTerms): number {
  const gap = usualGapOf(attempt, now, terms)
  const absentInMs = terms.absentAt ? terms.absentAt.getTime() - now.getTime() : -Infinity
  return absentInMs > 0 ? Math.min(gap, absentInMs) : gap
}

function usualGapOf(attempt: PolledAttempt, now: Date, { endsAt, timing }: PollTerms): number {
  const { polls, gave_up_at, submitted_at } = attempt
  const since = gave_up_at ?? submitted_at
  const waitedMs = since ? now.getTime() - since.getTime() : Infinity
  const gap = Math.min(pollGap(polls, timing), Math.max(shortestWaitMs, waitedMs / 4))
  const closesInMs = endsAt ? endsAt.getTime() + closing.afterMs - now.getTime() : -Infinity
  if (closesInMs > 0) return Math.min(gap, closesInMs)
  return closesInMs > -closing.forMs ? Math.min(gap, closing.everyMs) : gap
}

// When to poll an attempt after a reply at `now`; null if nothing can change any more. A failed attempt whose last poll
// gave no clear reply is polled again, because it may have been paid since.
export function nextPoll(
  attempt: PolledAttempt,
  now: Date,
  { wasClear = true, askedAt = now, ...terms }: PollTerms & { wasClear?: boolean; askedAt?: Date } = {},
): Date | null {
  const soon = new Date(now.getTime() + gapOf(attempt, now, terms))
  if (isUnresolved(attempt)) return soon
  if (attempt.state === 'paid') return attempt.check_reversals && !wasClear ? soon : null
  if (!attempt.ended_at) return null
  const since = Math.max(0, askedAt.getTime() - attempt.ended_at.getTime())
  const next = followUpAfter(since, terms.failureMayReverseForMs ?? lastFollowUp)
  if (next === undefined) return wasClear ? null : soon
  return new Date(attempt.ended_at.getTime() + next)
}

function followUpAfter(sinceMs: number, mayReverseForMs: number): number | undefined {
  const next =
    followUps.find(after => after > sinceMs) ?? (Math.floor(sinceMs / lastFollowUp) + 1) * lastFollowUp
  const due = Math.min(next, mayReverseForMs)
  return due > sinceMs ? due : undefined
}

// No poll is scheduled later than this. A later one was written by a clock that was set back since.
export const furthestPollMs = { unresolved: longestGap + minute, ended: lastFollowUp + minute }
