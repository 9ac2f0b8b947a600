import { type Attempt, isUnresolved } from './attempt.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

// How long to wait before asking a provider again: quick while the customer looks at the page, slow when only the
// truth is waited for. It never ends while the outcome is unknown.
const gaps = [1, 1, 2, 2, 3, 4, 5, 5, 10, 10, 15, 15, 30, 30, 60, 60, 120, 120, 300].map(s => s * second)
const longestGap = 15 * minute

// A no is asked about again: some turn into a yes, and a callback that says so may be lost.
const followUps = [20 * second, 2 * minute, 15 * minute, 2 * hour]

export const firstPollMs = 8 * second // who started the attempt hears the first answer; we ask when they died
export const resendForMs = 60 * second // a prompt that comes later would surprise the customer
export const returnGapMs = 5 * second // who comes back from a provider's page again and again makes us ask so often
export const worryAfterMs = 24 * hour // then a person is told

export function pollGap(asks: number): number {
  return gaps[asks] ?? longestGap
}

// What was sent is over when nobody can approve it any more. Its provider says so about then, by a clock of its own.
const closing = { afterMs: second, everyMs: 5 * second, forMs: minute }

// A customer who has given it up waits for its end: the gaps begin anew, and grow with the wait.
const shortestWaitMs = 2 * second

type Asked = Pick<Attempt, 'state' | 'asks' | 'ended_at' | 'gave_up_at'>

function gapOf({ asks, gave_up_at }: Asked, now: Date, endsAt: Date | undefined): number {
  const waitedMs = gave_up_at ? now.getTime() - gave_up_at.getTime() : Infinity
  const gap = Math.min(pollGap(asks), Math.max(shortestWaitMs, waitedMs / 4))
  const closesInMs = endsAt ? endsAt.getTime() + closing.afterMs - now.getTime() : -Infinity
  if (closesInMs > 0) return Math.min(gap, closesInMs)
  return closesInMs > -closing.forMs ? Math.min(gap, closing.everyMs) : gap
}

// When to ask about an attempt after it was heard of at `now`; null when there is nothing left to learn. A no that
// could not be asked about again stays a question.
export function nextPoll(
  attempt: Asked,
  now: Date,
  { wasClear = true, endsAt }: { wasClear?: boolean; endsAt?: Date } = {},
): Date | null {
  const soon = new Date(now.getTime() + gapOf(attempt, now, endsAt))
  if (isUnresolved(attempt)) return soon
  if (attempt.state === 'paid' || !attempt.ended_at) return null
  const since = now.getTime() - attempt.ended_at.getTime()
  const next = followUps.find(after => after > since)
  if (next === undefined) return wasClear ? null : soon
  return new Date(attempt.ended_at.getTime() + next)
}

// No ask is put off further than this. What is was written by a clock that has been set back since.
export const furthestPollMs = { unresolved: longestGap + minute, ended: 2 * hour + minute }
