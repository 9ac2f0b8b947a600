import { type Breaker, type CircuitState, circuitStateOf } from './circuitBreaker.ts'

// Health of a provider account for one payment method, judged by the calls and the outcomes of the last three minutes.
// A window consists of slices of ten seconds, so its size does not depend on the traffic. Time is monotonic milliseconds.
export const accountHealths = ['healthy', 'degraded', 'down'] as const
export type AccountHealth = (typeof accountHealths)[number]

export const healthWindowMs = 180_000
const sliceMs = 10_000
const briefPauseMs = 5000 // customers do not notice: a postponed order is sent a moment later
const longPauseMs = 60_000

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

export const noCalls: CallCounts = {
  answered: 0,
  late: 0,
  unanswered: 0,
  paid: 0,
  declined: 0,
  troubled: 0,
  delays: [...delayBoundsMs, Infinity].map(() => 0),
}

export type CountedEvent =
  | { what: 'answered'; delayMs: number; isLate: boolean }
  | { what: 'unanswered' | 'paid' | 'declined' | 'troubled' }

const countsOfEvent = (event: CountedEvent): CallCounts => {
  if (event.what !== 'answered') return { ...noCalls, [event.what]: 1 }
  const { delayMs, isLate } = event
  const bucket = [...delayBoundsMs, Infinity].findIndex(bound => delayMs <= bound)
  const delays = noCalls.delays.map((_, at) => (at === bucket ? 1 : 0))
  return { ...noCalls, answered: 1, late: isLate ? 1 : 0, delays }
}

export const sumCounts = (all: readonly CallCounts[]): CallCounts =>
  all.reduce(
    (sum, one) => ({
      answered: sum.answered + one.answered,
      late: sum.late + one.late,
      unanswered: sum.unanswered + one.unanswered,
      paid: sum.paid + one.paid,
      declined: sum.declined + one.declined,
      troubled: sum.troubled + one.troubled,
      delays: sum.delays.map((count, at) => count + (one.delays[at] ?? 0)),
    }),
    noCalls,
  )

export type CallWindow = readonly { slice: number; counts: CallCounts }[]

const sliceAt = (now: number) => Math.floor(now / sliceMs)
const recent = (window: CallWindow, now: number) =>
  window.filter(({ slice }) => slice > sliceAt(now - healthWindowMs))

export function countEvent(window: CallWindow, event: CountedEvent, now: number): CallWindow {
  const slice = sliceAt(now)
  const current = window.find(one => one.slice === slice)?.counts ?? noCalls
  const others = recent(window, now).filter(one => one.slice !== slice)
  return [...others, { slice, counts: sumCounts([current, countsOfEvent(event)]) }]
}

export const countsOf = (window: CallWindow, now: number): CallCounts =>
  sumCounts(recent(window, now).map(({ counts }) => counts))

const callsIn = ({ answered, unanswered }: CallCounts) => answered + unanswered
const outcomesIn = ({ paid, declined, troubled }: CallCounts) => paid + declined + troubled

// The first rule that matches decides. A rule needs at least `least` calls or outcomes to judge by.
const rules: readonly {
  health: AccountHealth
  bad(counts: CallCounts): number
  of(counts: CallCounts): number
  share: number
  least: number
}[] = [
  { health: 'down', bad: ({ unanswered }) => unanswered, of: callsIn, share: 0.6, least: 5 },
  { health: 'down', bad: ({ troubled }) => troubled, of: outcomesIn, share: 0.5, least: 4 },
  {
    health: 'degraded',
    bad: ({ unanswered, late }) => unanswered + late,
    of: callsIn,
    share: 0.25,
    least: 5,
  },
  { health: 'degraded', bad: ({ troubled }) => troubled, of: outcomesIn, share: 0.2, least: 4 },
]

export const healthOf = (counts: CallCounts): AccountHealth =>
  rules.find(({ bad, of, share, least }) => of(counts) >= least && bad(counts) >= share * of(counts))
    ?.health ?? 'healthy'

export const worseHealth = (one: AccountHealth, other: AccountHealth): AccountHealth =>
  accountHealths.indexOf(one) > accountHealths.indexOf(other) ? one : other

// A breaker that has been probing for a whole window without a probe says nothing: the account may have recovered.
export function healthByBreaker(breaker: Breaker, now: number): AccountHealth {
  const pauseMs = breaker.pausedUntil - now
  if (pauseMs > longPauseMs) return 'down'
  const state = circuitStateOf(breaker, now)
  if (state === 'open') return 'down'
  if (state === 'probing' && (breaker.probes > 0 || now - breaker.failedAt < healthWindowMs)) return 'down'
  return pauseMs > briefPauseMs ? 'degraded' : 'healthy'
}

// The upper bound of the bucket that contains this quantile of the delays. Undefined if nothing was answered.
export function delayQuantile({ delays, answered }: CallCounts, quantile: number): number | undefined {
  if (answered === 0) return undefined
  let sum = 0
  const bucket = delays.findIndex(count => (sum += count) >= quantile * answered)
  return delayBoundsMs[bucket] ?? Infinity
}

const providerReasons: ReadonlySet<string> = new Set(['account_trouble', 'network_error', 'never_arrived'])

// A call that was not sent is already counted as unanswered. A refusal for an unknown reason says nothing about the account.
const uncountedReasons: ReadonlySet<string> = new Set(['not_sent', 'refused'])

// How the end of an attempt counts for its account.
export function countedOutcome(
  state: string,
  reason: string | null,
): 'paid' | 'declined' | 'troubled' | undefined {
  if (state === 'paid') return 'paid'
  if (state !== 'failed' || uncountedReasons.has(reason ?? '')) return undefined
  return providerReasons.has(reason ?? '') ? 'troubled' : 'declined'
}

// What one node has stored about one payment method of an account.
export type NodeHealth = CallCounts & {
  breaker: CircuitState
  answered_at: Date | null
  paid_at: Date | null
  unknown_codes: readonly UnknownCodeCount[]
  last_error: string | null
  last_error_at: Date | null
  is_refused: boolean
  written_at: Date
}
export type UnknownCodeCount = { sample: string; count: number }

// `quiet`: no node has called the account within the window.
export type HealthSummary = {
  health: AccountHealth | 'quiet'
  breaker: CircuitState
  answered: number
  unanswered: number
  p50_ms: number | null // upper bounds
  p95_ms: number | null
  answered_seconds_ago: number | null
  paid_seconds_ago: number | null
  unknown_codes: UnknownCodeCount[]
  last_error: string | null // of the last call, if that was not answered
  last_error_seconds_ago: number | null
  is_refused: boolean // the provider refuses our credentials
}

const bySeverity: readonly CircuitState[] = ['closed', 'probing', 'open']

// Sums up what all nodes have seen. Counts older than the window are ignored; the times of the last success are not.
export function summarizeHealth(nodes: readonly NodeHealth[], now: Date): HealthSummary {
  const current = nodes.filter(({ written_at }) => now.getTime() - written_at.getTime() < healthWindowMs)
  const counts = sumCounts(current)
  const severities = current.map(({ breaker }) => bySeverity.indexOf(breaker))
  return {
    health: summarizedHealth(current, counts),
    breaker: bySeverity[Math.max(0, ...severities)] ?? 'closed',
    answered: counts.answered,
    unanswered: counts.unanswered,
    p50_ms: finiteDelay(delayQuantile(counts, 0.5)),
    p95_ms: finiteDelay(delayQuantile(counts, 0.95)),
    answered_seconds_ago: secondsSince(
      nodes.map(node => node.answered_at),
      now,
    ),
    paid_seconds_ago: secondsSince(
      nodes.map(node => node.paid_at),
      now,
    ),
    unknown_codes: sumCodes(nodes.flatMap(({ unknown_codes }) => unknown_codes)),
    ...lastErrorOf(nodes, now),
  }
}

// An account is down if the breakers of all nodes that called it lately are open or probing.
function summarizedHealth(current: readonly NodeHealth[], counts: CallCounts): HealthSummary['health'] {
  if (current.length === 0) return 'quiet'
  return current.every(({ breaker }) => breaker !== 'closed') ? 'down' : healthOf(counts)
}

// The latest error of any node, unless any node has received an answer since.
function lastErrorOf(nodes: readonly NodeHealth[], now: Date) {
  const answeredAt = Math.max(...nodes.map(({ answered_at }) => answered_at?.getTime() ?? -Infinity))
  const last = nodes
    .filter(({ last_error_at }) => last_error_at !== null && last_error_at.getTime() > answeredAt)
    .toSorted((a, b) => Number(b.last_error_at) - Number(a.last_error_at))
    .at(0)
  return {
    last_error: last?.last_error ?? null,
    last_error_seconds_ago: secondsSince([last?.last_error_at ?? null], now),
    is_refused: last?.is_refused ?? false,
  }
}

const finiteDelay = (ms: number | undefined) =>
  ms === undefined ? null : Math.min(ms, delayBoundsMs.at(-1) as number)

function secondsSince(times: readonly (Date | null)[], now: Date): number | null {
  const last = Math.max(...times.map(at => at?.getTime() ?? -Infinity))
  return last === -Infinity ? null : Math.max(0, Math.round((now.getTime() - last) / 1000))
}

function sumCodes(codes: readonly UnknownCodeCount[]): UnknownCodeCount[] {
  const counts = new Map<string, number>()
  for (const { sample, count } of codes) counts.set(sample, (counts.get(sample) ?? 0) + count)
  return [...counts].map(([sample, count]) => ({ sample, count })).toSorted((a, b) => b.count - a.count)
}
