import type { BreakerState } from './breaker.ts'
import {
  sumCounts,
  delayBoundsMs,
  delayWithin,
  healthOf,
  type AccountHealth,
  type CallCounts,
  windowMs,
} from './accountHealth.ts'

// What one node has told of a way of an account.
export type NodeHealth = CallCounts & {
  breaker: BreakerState
  answered_at: Date | null
  paid_at: Date | null
  unknown_codes: readonly { sample: string; count: number }[]
  last_error: string | null
  last_error_at: Date | null
  is_refused: boolean
  written_at: Date
}

// `quiet`: nobody has called of late.
export type HealthSummary = {
  health: AccountHealth | 'quiet'
  breaker: BreakerState
  answered: number
  unanswered: number
  p50_ms: number | null // at most; so is the next
  p95_ms: number | null
  answered_seconds_ago: number | null
  paid_seconds_ago: number | null
  unknown_codes: { sample: string; count: number }[]
  last_error: string | null // of the last call, where that was not answered
  last_error_seconds_ago: number | null
  is_refused: boolean // the provider refuses our credentials
}

const severity: readonly BreakerState[] = ['closed', 'probing', 'open']

// What all nodes together have seen. What a node told longer ago than the window says nothing of today, but for when it
// was last well.
export function summarizeHealth(told: readonly NodeHealth[], now: Date): HealthSummary {
  const lately = told.filter(({ written_at }) => now.getTime() - written_at.getTime() < windowMs)
  const tally = sumCounts(lately)
  const breakers = lately.map(({ breaker }) => severity.indexOf(breaker))
  const breaker = severity[Math.max(0, ...breakers)] ?? 'closed'
  return {
    health: standingOf(lately, tally),
    breaker,
    answered: tally.answered,
    unanswered: tally.unanswered,
    p50_ms: shownDelay(delayWithin(tally, 0.5)),
    p95_ms: shownDelay(delayWithin(tally, 0.95)),
    answered_seconds_ago: secondsSince(
      told.map(({ answered_at }) => answered_at),
      now,
    ),
    paid_seconds_ago: secondsSince(
      told.map(({ paid_at }) => paid_at),
      now,
    ),
    unknown_codes: countWords(told.flatMap(({ unknown_codes }) => unknown_codes)),
    ...lastErrorOf(told, now),
  }
}

// What any node was told last, unless another has had an answer since.
function lastErrorOf(told: readonly NodeHealth[], now: Date) {
  const answeredAt = Math.max(...told.map(({ answered_at }) => answered_at?.getTime() ?? -Infinity))
  const last = told
    .filter(({ last_error_at }) => last_error_at !== null && last_error_at.getTime() > answeredAt)
    .toSorted((a, b) => Number(b.last_error_at) - Number(a.last_error_at))
    .at(0)
  return {
    last_error: last?.last_error ?? null,
    last_error_seconds_ago: secondsSince([last?.last_error_at ?? null], now),
    is_refused: last?.is_refused ?? false,
  }
}

// It is down where every node that has called of late says that it leaves it alone.
function standingOf(lately: readonly NodeHealth[], tally: CallCounts): HealthSummary['health'] {
  if (lately.length === 0) return 'quiet'
  return lately.every(({ breaker }) => breaker !== 'closed') ? 'down' : healthOf(tally)
}

const shownDelay = (ms: number | undefined) =>
  ms === undefined ? null : Math.min(ms, delayBoundsMs.at(-1) as number)

function secondsSince(times: readonly (Date | null)[], now: Date): number | null {
  const last = Math.max(...times.map(at => at?.getTime() ?? -Infinity))
  return last === -Infinity ? null : Math.max(0, Math.round((now.getTime() - last) / 1000))
}

function countWords(words: readonly { sample: string; count: number }[]) {
  const counts = new Map<string, number>()
  for (const { sample, count } of words) counts.set(sample, (counts.get(sample) ?? 0) + count)
  return [...counts].map(([sample, count]) => ({ sample, count })).toSorted((a, b) => b.count - a.count)
}
