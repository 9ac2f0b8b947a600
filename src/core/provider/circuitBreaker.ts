// The circuit breaker of a provider account. It opens after five orders in a row got no answer. While it is open no order
// is sent; after a pause it is probing: one order at a time is sent as a probe. An answer to a probe closes it, no answer
// opens it for twice as long. Status questions (`ask`) are sent in every state, and their answers count too. Independent
// of that, a provider may ask for a pause (HTTP 429, Retry-After): then neither orders nor questions are sent. Time is
// monotonic milliseconds.

export const circuitStates = ['closed', 'open', 'probing'] as const
export type CircuitState = (typeof circuitStates)[number]
export type Verb = 'start' | 'ask'
export type CallOutcome = 'answered' | 'unanswered' | 'not_sent'

const ordersToOpen = 5 // without an answer in a row; an order that is asked about repeatedly counts once
const firstOpenMs = 5000
const longestOpenMs = 60_000
const shortestPauseMs = 1000
const longestPauseMs = 300_000 // whatever the provider asks for: a paid order must be noticed

export const newBreaker = {
  failed: { start: [], ask: [] } as Readonly<Record<Verb, readonly string[]>>, // ids of orders without an answer in a row
  openUntil: null as number | null, // null: closed
  openMs: firstOpenMs,
  failedAt: -Infinity, // the last call without an answer
  probes: 0, // orders under way that were sent as probes
  pausedUntil: -Infinity,
}
export type Breaker = Readonly<typeof newBreaker>

export function circuitStateOf({ openUntil }: Breaker, now: number): CircuitState {
  if (openUntil === null) return 'closed'
  return now < openUntil ? 'open' : 'probing'
}

// An answered order closes the breaker. An answered question closes it only if questions opened it. If orders opened it,
// and questions failed as well, the answer ends the wait: the next order is a probe. If questions were answered all along,
// the answer proves nothing new.
function recordAnswer(breaker: Breaker, verb: Verb, now: number): Breaker {
  const { failed, openUntil, probes, pausedUntil } = breaker
  const cleared = { ...breaker, failed: { ...failed, [verb]: [] } }
  if (openUntil === null) return cleared
  if (verb === 'start' || failed.start.length < ordersToOpen) return { ...newBreaker, probes, pausedUntil }
  if (failed.ask.length === 0) return breaker
  return { ...cleared, openMs: firstOpenMs, openUntil: Math.min(now, openUntil) }
}

type RecordedCall = { verb: Verb; order: string; outcome: CallOutcome }

// An open breaker only counts calls without an answer: they were sent before it opened, or are questions.
export function recordCall(breaker: Breaker, { verb, order, outcome }: RecordedCall, now: number): Breaker {
  if (outcome === 'answered') return recordAnswer(breaker, verb, now)
  const orders = [...new Set([...breaker.failed[verb], order])].slice(-ordersToOpen)
  const counted = { ...breaker, failed: { ...breaker.failed, [verb]: orders }, failedAt: now }
  const open = (openMs: number) => ({ ...counted, openMs, openUntil: now + openMs })
  const state = circuitStateOf(breaker, now)
  if (state === 'closed' && orders.length === ordersToOpen) return open(firstOpenMs)
  return state === 'probing' ? open(Math.min(breaker.openMs * 2, longestOpenMs)) : counted
}

export function pauseBreaker(breaker: Breaker, pauseMs: number, now: number): Breaker {
  const boundedMs = Math.min(Math.max(pauseMs, shortestPauseMs), longestPauseMs)
  return { ...breaker, pausedUntil: Math.max(breaker.pausedUntil, now + boundedMs) }
}

// Why a call may not be sent now; undefined if it may.
export function whyBlocked(breaker: Breaker, verb: Verb, now: number): string | undefined {
  if (now < breaker.pausedUntil) return 'The provider asked for a pause.'
  const state = circuitStateOf(breaker, now)
  const maySend = verb === 'ask' || state === 'closed' || (state === 'probing' && breaker.probes === 0)
  return maySend ? undefined : 'The provider did not answer recent requests. New ones wait.'
}
