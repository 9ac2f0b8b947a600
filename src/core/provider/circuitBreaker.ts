// The circuit breaker of a provider account. It opens after five orders in a row got no answer. While it is open no order
// is sent; after a pause it is probing: one order at a time is sent as a probe. An answer to a probe closes it, no answer
// opens it for twice as long. Status questions (`ask`) are sent in every state, and their answers count too. Independent
// of that, a provider may ask for a pause (HTTP 429, Retry-After): then neither orders nor questions are sent. Time is
// monotonic milliseconds.

export const circuitStates = ['closed', 'open', 'probing'] as const
export type CircuitState = (typeof circuitStates)[number]
export type Verb = 'start' | 'ask'
export type CallOutcome = 'answered' | 'unanswered'

const ordersToOpen = 5 // without an answer in a row; an order that is asked about repeatedly counts once
const firstOpenMs = 5000
const longestOpenMs = 60_000
const shortestPauseMs = 1000
const longestPauseMs = 300_000 // whatever the provider asks for: a paid order must be noticed

export type Breaker = {
  failed: Readonly<Record<Verb, readonly string[]>> // ids of the orders that got no answer in a row
  openUntil: number | null // null: closed
  openMs: number
  failedAt: number
  probes: number // orders under way that were sent as probes
  pausedUntil: number
}

export const newBreaker: Breaker = {
  failed: { start: [], ask: [] },
  openUntil: null,
  openMs: firstOpenMs,
  failedAt: -Infinity,
  probes: 0,
  pausedUntil: -Infinity,
}

export function circuitStateOf({ openUntil }: Breaker, now: number): CircuitState {
  if (openUntil === null) return 'closed'
  return now < openUntil ? 'open' : 'probing'
}

type Call = { verb: Verb; order: string }
type Transition = (breaker: Breaker, call: Call, now: number) => Breaker

const transitions: Record<CircuitState, Record<CallOutcome, Transition>> = {
  closed: { answered: clearFailures, unanswered: countOrOpen },
  open: { answered: recover, unanswered: countFailure },
  probing: { answered: recover, unanswered: openForLonger },
}

export const recordOutcome = (breaker: Breaker, call: Call, outcome: CallOutcome, now: number): Breaker =>
  transitions[circuitStateOf(breaker, now)][outcome](breaker, call, now)

function clearFailures(breaker: Breaker, { verb }: Call): Breaker {
  return { ...breaker, failed: { ...breaker.failed, [verb]: [] } }
}

function countFailure(breaker: Breaker, { verb, order }: Call, now: number): Breaker {
  const orders = [...new Set([...breaker.failed[verb], order])].slice(-ordersToOpen)
  return { ...breaker, failed: { ...breaker.failed, [verb]: orders }, failedAt: now }
}

function countOrOpen(breaker: Breaker, call: Call, now: number): Breaker {
  const counted = countFailure(breaker, call, now)
  const opens = counted.failed[call.verb].length >= ordersToOpen
  return opens ? { ...counted, openMs: firstOpenMs, openUntil: now + firstOpenMs } : counted
}

function openForLonger(breaker: Breaker, call: Call, now: number): Breaker {
  const openMs = Math.min(breaker.openMs * 2, longestOpenMs)
  return { ...countFailure(breaker, call, now), openMs, openUntil: now + openMs }
}

// An answered question closes the breaker only if questions opened it. If orders opened it, and questions failed as well,
// the answer ends the wait: the next order is a probe. If questions were answered all along, it proves nothing new.
function recover(breaker: Breaker, call: Call, now: number): Breaker {
  const { probes, pausedUntil, failed } = breaker
  if (call.verb === 'start' || failed.start.length < ordersToOpen)
    return { ...newBreaker, probes, pausedUntil }
  if (failed.ask.length === 0) return breaker
  const openUntil = Math.min(now, breaker.openUntil ?? now)
  return { ...clearFailures(breaker, call), openMs: firstOpenMs, openUntil }
}

export function pauseBreaker(breaker: Breaker, pauseMs: number, now: number): Breaker {
  const boundedMs = Math.min(Math.max(pauseMs, shortestPauseMs), longestPauseMs)
  return { ...breaker, pausedUntil: Math.max(breaker.pausedUntil, now + boundedMs) }
}

// Why a call may not be sent now; undefined if it may.
export function whyBlocked(breaker: Breaker, verb: Verb, now: number): string | undefined {
  if (now < breaker.pausedUntil) return 'The provider asked for a pause.'
  if (verb === 'ask' || breaker.openUntil === null) return undefined
  if (now < breaker.openUntil) return 'The provider did not answer recent requests. New ones wait.'
  return breaker.probes > 0
    ? 'The provider did not answer recent requests. Another order is probing it.'
    : undefined
}
