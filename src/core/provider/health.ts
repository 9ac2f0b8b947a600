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

export const delayBoundsMs = [50, 100, 250, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000]
const delayBuckets = [...delayBoundsMs, Infinity]

export const noCalls = {
  answered: 0,
  late: 0, // answered after more than half of the timeout
  unanswered: 0, // no usable answer, an answer after the timeout, or no connection
  paid: 0,
  declined: 0, // by the customer, or for a reason of the customer's: a success of the account
  troubled: 0, // failed for a reason of the account or of its provider
  delays: delayBuckets.map(() => 0), // answered calls by delay
}
export type CallCounts = Readonly<typeof noCalls>
const countNames = ['answered', 'late', 'unanswered', 'paid', 'declined', 'troubled'] as const

export const answeredCall = (delayMs: number, isLate: boolean): Partial<CallCounts> => {
  const bucket = delayBuckets.findIndex(bound => delayMs <= bound)
  return { answered: 1, late: Number(isLate), delays: delayBuckets.map((_, at) => Number(at === bucket)) }
}

export function sumCounts(all: readonly Partial<CallCounts>[]): CallCounts {
  const sum = { ...noCalls }
  for (const counts of all) {
    for (const name of countNames) sum[name] += counts[name] ?? 0
    sum.delays = sum.delays.map((count, bucket) => count + (counts.delays?.[bucket] ?? 0))
  }
  return sum
}

export type CallWindow = readonly (CallCounts & { slice: number })[]

const recent = (window: CallWindow, now: number) =>
  window.filter(({ slice }) => slice > Math.floor((now - healthWindowMs) / sliceMs))

export const countsOf = (window: CallWindow, now: number) => sumCounts(recent(window, now))

export function addToWindow(window: CallWindow, counts: Partial<CallCounts>, now: number): CallWindow {
  const slice = Math.floor(now / sliceMs)
  const current = window.filter(one => one.slice === slice)
  const others = recent(window, now).filter(one => one.slice !== slice)
  return [...others, { ...sumCounts([...current, counts]), slice }]
}

export function healthOf(counts: CallCounts): AccountHealth {
  const { answered, late, unanswered, paid, declined, troubled } = counts
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

// A call that was not sent is already counted as unanswered. A refusal for an unknown reason proves nothing about it.
const uncountedReasons = ['not_sent', 'refused']
const providerReasons = ['account_trouble', 'network_error', 'never_arrived']

// How the end of an attempt counts for its account.
export function countedOutcome(state: string, reason: string) {
  if (state === 'paid') return 'paid'
  if (state !== 'failed' || uncountedReasons.includes(reason)) return undefined
  return providerReasons.includes(reason) ? 'troubled' : 'declined'
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

// Sums up what all nodes have seen. Counts older than the window are ignored; the times of the last success are not. The
// health is `quiet` if no node has called the account within the window, and `down` if no breaker of those nodes is closed.
export function summarizeHealth(nodes: readonly HealthRow[], now: Date) {
  const current = nodes.filter(({ written_at }) => Number(now) - Number(written_at) < healthWindowMs)
  const breakers = new Set(current.map(({ breaker }) => breaker))
  const counts = sumCounts(current)
  const answered_at = latest(nodes, 'answered_at')
  const failed_at = latest(nodes, 'last_error_at')
  const failed =
    failed_at > answered_at ? nodes.find(row => Number(row.last_error_at) === failed_at) : undefined
  const secondsSince = (at: number) => (at === 0 ? null : Math.max(0, Math.round((Number(now) - at) / 1000)))
  const health = breakers.has('closed') ? healthOf(counts) : 'down'
  return {
    health: breakers.size === 0 ? ('quiet' as const) : health,
    breaker: (['open', 'probing'] as const).find(state => breakers.has(state)) ?? 'closed',
    answered: counts.answered,
    unanswered: counts.unanswered,
    p50_ms: delayQuantile(counts, 0.5),
    p95_ms: delayQuantile(counts, 0.95),
    answered_seconds_ago: secondsSince(answered_at),
    paid_seconds_ago: secondsSince(latest(nodes, 'paid_at')),
    unknown_codes: sumSamples(nodes.flatMap(({ unknown_codes }) => unknown_codes)),
    last_error: failed?.last_error ?? null, // unless any node has received an answer since
    last_error_seconds_ago: failed ? secondsSince(failed_at) : null,
    is_refused: failed?.is_refused ?? false,
  }
}

// Milliseconds; 0 if there is none.
const latest = (nodes: readonly HealthRow[], what: 'answered_at' | 'paid_at' | 'last_error_at') =>
  Math.max(0, ...nodes.map(row => Number(row[what])))

// The upper bound of the bucket that contains this quantile of the delays, at most the last bound. Null if nothing was
// answered.
export function delayQuantile({ delays, answered }: CallCounts, quantile: number): number | null {
  let sum = 0
  const bucket = delays.findIndex(count => (sum += count) >= quantile * answered)
  return answered === 0 ? null : Math.min(delayBuckets[bucket] ?? Infinity, Math.max(...delayBoundsMs))
}
