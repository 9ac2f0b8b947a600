import type { ProviderTiming } from '../provider/provider.ts'
import { type Attempt, isUnresolved } from './attempt.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

// How long to wait before asking a provider again: quick while the customer looks at the page, slow when only the
// truth is waited for. It never ends while the outcome is unknown. A provider may say gaps of its own.
const usualGaps = [1, 1, 2, 2, 3, 4, 5, 5, 10, 10, 15, 15, 30, 30, 60, 60, 120, 120, 300].map(s => s * second)
const longestGap = 15 * minute

// A no is asked about again: some turn into a yes, and a callback that says so may be lost. Each provider says for how long.
const followUps = [20 * second, 2 * minute, 15 * minute, 2 * hour]
const lastFollowUp = 2 * hour // and every so often after it

export const defaultFirstPollMs = 8 * second // who started the attempt hears the first answer; we ask when they died
const writeMs = 3 * second // to write down an answer that came in the last moment
export const resendForMs = 60 * second // a prompt that comes later would surprise the customer
export const returnGapMs = 5 * second // who comes back from a provider's page again and again makes us ask so often
export const overdueAfterMs = 24 * hour // then a person is told

// Who sends an order, or what was typed at a step, waits for the answer itself; a worker asks when they died.
export const firstPollAfter = ({ startTimeoutMs = 0 }: ProviderTiming = {}): number =>
  Math.max(defaultFirstPollMs, startTimeoutMs + writeMs)

// Before the first look it is no use to ask, says the provider; then by its gaps.
export function pollGap(
  asks: number,
  { firstPollMs = 0, pollGapsMs: gapsMs = usualGaps }: ProviderTiming = {},
): number {
  const gap = gapsMs[asks] ?? (gapsMs === usualGaps ? longestGap : (gapsMs.at(-1) ?? longestGap))
  return Math.min(longestGap, asks === 0 ? Math.max(gap, firstPollMs) : gap)
}

// What was sent is over when nobody can approve it any more. Its provider says so about then, by a clock of its own.
const closing = { afterMs: second, everyMs: 5 * second, forMs: minute }

// A customer who has given it up waits for its end, and one who has typed what a step asked for waits for what comes of
// it: the gaps begin anew, and grow with the wait.
const shortestWaitMs = 2 * second

type Asked = Pick<Attempt, 'state' | 'polls' | 'ended_at' | 'gave_up_at' | 'submitted_at'> &
  Partial<Pick<Attempt, 'check_reversals'>>

// What the provider says of it, when what was sent is over, and when "not found" becomes final.
export type PollTerms = {
  endsAt?: Date
  absentAt?: Date
  failureMayReverseForMs?: number
  timing?: ProviderTiming
}

// A poll falls on the moment when "not found" becomes final, so that the customer does not wait for the next one.
function gapOf(attempt: Asked, now: Date, terms: PollTerms): number {
  const gap = usualGapOf(attempt, now, terms)
  const absentInMs = terms.absentAt ? terms.absentAt.getTime() - now.getTime() : -Infinity
  return absentInMs > 0 ? Math.min(gap, absentInMs) : gap
}

function usualGapOf(attempt: Asked, now: Date, { endsAt, timing: pace }: PollTerms): number {
  const { polls: asks, gave_up_at, submitted_at } = attempt
  const since = gave_up_at ?? submitted_at
  const waitedMs = since ? now.getTime() - since.getTime() : Infinity
  const gap = Math.min(pollGap(asks, pace), Math.max(shortestWaitMs, waitedMs / 4))
  const closesInMs = endsAt ? endsAt.getTime() + closing.afterMs - now.getTime() : -Infinity
  if (closesInMs > 0) return Math.min(gap, closesInMs)
  return closesInMs > -closing.forMs ? Math.min(gap, closing.everyMs) : gap
}

// When to ask about an attempt after it was heard of at `now`; null when there is nothing left to learn. A no that
// could not be asked about again stays a question, and one that was asked about long ago may have turned since.
export function nextPoll(
  attempt: Asked,
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

function followUpAfter(sinceMs: number, mayTurnForMs: number): number | undefined {
  const next =
    followUps.find(after => after > sinceMs) ?? (Math.floor(sinceMs / lastFollowUp) + 1) * lastFollowUp
  const due = Math.min(next, mayTurnForMs)
  return due > sinceMs ? due : undefined
}

// No ask is postponed further than this. What is was written by a clock that has been set back since.
export const furthestPollMs = { unresolved: longestGap + minute, ended: lastFollowUp + minute }
