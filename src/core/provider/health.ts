import { type Breaker, type CircuitState, circuitStateOf } from './circuitBreaker.ts'
import { sumSamples, type UnknownCodeCount } from './unknownCode.ts'

// Health of a provider account for one payment method, judged by the calls and the outcomes of the last three minutes.
// A window consists of slices of ten seconds, so its size does not depend on the traffic. Time is monotonic milliseconds.
export const accountHealths = ['healthy', 'degraded', 'down'] as const
export type AccountHealth = (typeof accountHealths)[number]

export const healthWindowMs = 180_000
const sliceMs = 10_000
const briefPauseMs = 5000 // customers do not notice: a postponed order is sent a moment later
const longPauseMs = 60_000
const leastCalls = 5 // fewer are not judged
const leastOutcomes = 4

export type CallCounts = {
  answered: number
  late: number // answered after more than half of the timeout
  unanswered: number // no usable answer, an answer after the timeout, or no connection
  paid: number
  declined: number // by the customer, or for a reason of the customer's: a success of the account
  troubled: number // failed for a reason of the account or of its provider
  delays: readonly number[] // answered calls by delay: one bucket for each of `delayBoundsMs`, and one above the last
}

export const delayBoundsMs = [50, 100, 250, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000]
const delayBuckets = [...delayBoundsMs, Infinity]

export const answeredCall = (delayMs: number, isLate: boolean): Partial<CallCounts> => {
  const bucket = delayBuckets.findIndex(bound => delayMs <= bound)
  return { answered: 1, late: Number(isLate), delays: delayBuckets.map((_, at) => Number(at === bucket)) }
}

export function sumCounts(all: readonly Partial<CallCounts>[]): CallCounts {
  const sum = (countIn: (counts: Partial<CallCounts>) => number | undefined) =>
    all.reduce((total, counts) => total + (countIn(counts) ?? 0), 0)
  return {
    answered: sum(({ answered }) => answered),
    late: sum(({ late }) => late),
    unanswered: sum(({ unanswered }) => unanswered),
    paid: sum(({ paid }) => paid),
    declined: sum(({ declined }) => declined),
    troubled: sum(({ troubled }) => troubled),
    delays: delayBuckets.map((_, at) => sum(({ delays }) => delays?.[at])),
  }
}

export const noCalls = sumCounts([])

export type CallWindow = readonly { slice: number; counts: CallCounts }[]

const recent = (window: CallWindow, now: number) =>
  window.filter(({ slice }) => slice > Math.floor((now - healthWindowMs) / sliceMs))

export function addToWindow(window: CallWindow, counts: Partial<CallCounts>, now: number): CallWindow {
  const slice = Math.floor(now / sliceMs)
  const current = window.find(one => one.slice === slice)?.counts ?? noCalls
  const others = recent(window, now).filter(one => one.slice !== slice)
  return [...others, { slice, counts: sumCounts([current, counts]) }]
}

export const countsOf = (window: CallWindow, now: number): CallCounts =>
  sumCounts(recent(window, now).map(({ counts }) => counts))

export function healthOf({
  answered,
  late,
  unanswered,
  paid,
  declined,
  troubled,
}: CallCounts): AccountHealth {
  const calls = answered + unanswered
  const outcomes = paid + declined + troubled
  if (calls >= leastCalls && unanswered >= 0.6 * calls) return 'down'
  if (outcomes >= leastOutcomes && troubled >= 0.5 * outcomes) return 'down'
  if (calls >= leastCalls && unanswered + late >= 0.25 * calls) return 'degraded'
  if (outcomes >= leastOutcomes && troubled >= 0.2 * outcomes) return 'degraded'
  return 'healthy'
}

export const worseHealth = (one: AccountHealth, other: AccountHealth): AccountHealth =>
  accountHealths.indexOf(one) > accountHealths.indexOf(other) ? one : other

// A probing breaker whose last failure is a whole window ago proves nothing: the account may have recovered.
export function healthByBreaker(breaker: Breaker, now: number): AccountHealth {
  const { failedAt, pausedUntil, probes } = breaker
  const state = circuitStateOf(breaker, now)
  if (state === 'open' || pausedUntil - now > longPauseMs) return 'down'
  if (state === 'probing' && (probes > 0 || now - failedAt < healthWindowMs)) return 'down'
  return pausedUntil - now > briefPauseMs ? 'degraded' : 'healthy'
}

const providerReasons: ReadonlySet<string> = new Set(['account_trouble', 'network_error', 'never_arrived'])

// A call that was not sent is already counted as unanswered. A refusal for an unknown reason proves nothing about it.
const uncountedReasons: ReadonlySet<string> = new Set(['not_sent', 'refused'])

// How the end of an attempt counts for its account.
export function countedOutcome(state: string, reason: string | null) {
  if (state === 'paid') return 'paid'
  if (state !== 'failed' || uncountedReasons.has(reason ?? '')) return undefined
  return providerReasons.has(reason ?? '') ? 'troubled' : 'declined'
}

// What one node has seen of one payment method of an account: a row of the table provider_health.
export const newHealthRow = (provider_account: string, payment_method: string, now: Date) => ({
  ...noCalls,
  provider_account,
  payment_method,
  written_at: now, // of the last call or outcome
  breaker: 'closed' as CircuitState,
  rest_until: null as Date | null, // the provider asked for a pause until then
  answered_at: null as Date | null,
  paid_at: null as Date | null,
  unknown_codes: [] as readonly UnknownCodeCount[],
  last_error: null as string | null, // of the last call, if that was not answered
  last_error_at: null as Date | null,
  is_refused: false, // the provider refused our credentials in that call
})
export type HealthRow = ReturnType<typeof newHealthRow>

// Sums up what all nodes have seen. Counts older than the window are ignored; the times of the last success are not.
export function summarizeHealth(nodes: readonly HealthRow[], now: Date) {
  const current = nodes.filter(({ written_at }) => now.getTime() - written_at.getTime() < healthWindowMs)
  const counts = sumCounts(current)
  const worstBreaker = (['open', 'probing'] as const).find(state =>
    current.some(one => one.breaker === state),
  )
  const answeredAt = latest(nodes.map(({ answered_at }) => answered_at))
  const failedAt = latest(nodes.map(({ last_error_at }) => last_error_at))
  const failed = failedAt > answeredAt ? nodes.find(one => Number(one.last_error_at) === failedAt) : undefined
  const secondsSince = (at: number) =>
    at === 0 ? null : Math.max(0, Math.round((now.getTime() - at) / 1000))
  return {
    health: summarizedHealth(current, counts),
    breaker: worstBreaker ?? 'closed',
    answered: counts.answered,
    unanswered: counts.unanswered,
    p50_ms: delayQuantile(counts, 0.5),
    p95_ms: delayQuantile(counts, 0.95),
    answered_seconds_ago: secondsSince(answeredAt),
    paid_seconds_ago: secondsSince(latest(nodes.map(({ paid_at }) => paid_at))),
    unknown_codes: sumSamples(nodes.flatMap(({ unknown_codes }) => unknown_codes)),
    last_error: failed?.last_error ?? null, // unless any node has received an answer since
    last_error_seconds_ago: failed ? secondsSince(failedAt) : null,
    is_refused: failed?.is_refused ?? false,
  }
}

// Milliseconds; 0 if there is none.
const latest = (times: readonly (Date | null)[]) => Math.max(0, ...times.map(Number))

// `quiet`: no node has called the account within the window. An account is down if the breakers of all nodes that called
// it lately are open or probing.
function summarizedHealth(current: readonly HealthRow[], counts: CallCounts): AccountHealth | 'quiet' {
  if (current.length === 0) return 'quiet'
  return current.every(({ breaker }) => breaker !== 'closed') ? 'down' : healthOf(counts)
}

// The upper bound of the bucket that contains this quantile of the delays, at most the last bound. Null if nothing was
// answered.
export function delayQuantile({ delays, answered }: CallCounts, quantile: number): number | null {
  let sum = 0
  const bucket = delays.findIndex(count => (sum += count) >= quantile * answered)
  return answered === 0 ? null : Math.min(delayBuckets[bucket] ?? Infinity, Math.max(...delayBoundsMs))
}
