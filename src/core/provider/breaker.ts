import { type AccountHealth, windowMs } from './accountHealth.ts'

// What keeps us from an account whose provider does not answer: while it is open no order is sent there, then one at a
// time, to see. Questions about what was sent before go on: what they hear counts, too. Time is monotonic milliseconds.

export const breakerStates = ['closed', 'open', 'probing'] as const
export type BreakerState = (typeof breakerStates)[number]
export type Verb = 'start' | 'ask'
export type Outcome = 'answered' | 'unanswered'

const ordersToOpen = 5 // in a row without an answer; one order that is asked about again and again counts once
const firstPauseMs = 5000
const longestPauseMs = 60_000
const shortestRestMs = 1000
const longestRestMs = 300_000 // whatever it says: somebody may have paid, and nobody asks meanwhile
const briefRestMs = 5000 // nobody notices: what was not sent is sent a moment later
const longRestMs = 60_000

export type Breaker = {
  failed: Readonly<Record<Verb, readonly string[]>> // orders in a row, by their keys
  openUntil: number | null // null: closed
  pauseMs: number
  failedAt: number
  probes: number // orders that are on their way to see
  restUntil: number // the provider wants to be left alone: nothing at all is sent
}

export const newBreaker: Breaker = {
  failed: { start: [], ask: [] },
  openUntil: null,
  pauseMs: firstPauseMs,
  failedAt: -Infinity,
  probes: 0,
  restUntil: -Infinity,
}

export function breakerStateOf({ openUntil }: Breaker, now: number): BreakerState {
  if (openUntil === null) return 'closed'
  return now < openUntil ? 'open' : 'probing'
}

type Call = { verb: Verb; order: string }
type Move = (breaker: Breaker, call: Call, now: number) => Breaker

// The whole life of a breaker. What is heard of a start tells of both; an answer to a question tells nothing of starts
// where questions were answered all along.
const moves: Record<BreakerState, Record<Outcome, Move>> = {
  closed: { answered: forgive, unanswered: countOrOpen },
  open: { answered: comeBack, unanswered: count },
  probing: { answered: comeBack, unanswered: openForLonger },
}

export const recordOutcome = (breaker: Breaker, call: Call, outcome: Outcome, now: number): Breaker =>
  moves[breakerStateOf(breaker, now)][outcome](breaker, call, now)

function forgive(breaker: Breaker, { verb }: Call): Breaker {
  return { ...breaker, failed: { ...breaker.failed, [verb]: [] } }
}

function count(breaker: Breaker, { verb, order }: Call, now: number): Breaker {
  const orders = new Set([...breaker.failed[verb], order])
  return {
    ...breaker,
    failed: { ...breaker.failed, [verb]: [...orders].slice(-ordersToOpen) },
    failedAt: now,
  }
}

function countOrOpen(breaker: Breaker, call: Call, now: number): Breaker {
  const counted = count(breaker, call, now)
  const opens = counted.failed[call.verb].length >= ordersToOpen
  return opens ? { ...counted, pauseMs: firstPauseMs, openUntil: now + firstPauseMs } : counted
}

function openForLonger(breaker: Breaker, call: Call, now: number): Breaker {
  const pauseMs = Math.min(breaker.pauseMs * 2, longestPauseMs)
  return { ...count(breaker, call, now), pauseMs, openUntil: now + pauseMs }
}

function comeBack(breaker: Breaker, call: Call, now: number): Breaker {
  const { probes, restUntil, failed } = breaker
  if (call.verb === 'start' || failed.start.length < ordersToOpen) return { ...newBreaker, probes, restUntil }
  if (failed.ask.length === 0) return breaker
  return {
    ...forgive(breaker, call),
    pauseMs: firstPauseMs,
    openUntil: Math.min(now, breaker.openUntil ?? now),
  }
}

export const pauseBreaker = (breaker: Breaker, restMs: number, now: number): Breaker => ({
  ...breaker,
  restUntil: Math.max(breaker.restUntil, now + Math.min(Math.max(restMs, shortestRestMs), longestRestMs)),
})

// In words why something may not leave; undefined when it may.
export function whyNot(breaker: Breaker, verb: Verb, now: number): string | undefined {
  if (now < breaker.restUntil) return 'The provider wants to be left alone for a while.'
  if (verb === 'ask' || breaker.openUntil === null) return undefined
  if (now < breaker.openUntil) return 'The provider has not answered lately: it is left alone for a while.'
  return breaker.probes > 0
    ? 'The provider has not answered lately: another order is on its way, to see.'
    : undefined
}

// What it says of the account. One that nobody has tried for long may be well again: that is seen by trying.
export function healthByBreaker(breaker: Breaker, now: number): AccountHealth {
  const restMs = breaker.restUntil - now
  if (restMs > longRestMs) return 'down'
  const state = breakerStateOf(breaker, now)
  if (state === 'open') return 'down'
  if (state === 'probing' && (breaker.probes > 0 || now - breaker.failedAt < windowMs)) return 'down'
  return restMs > briefRestMs ? 'degraded' : 'healthy'
}
