import {
  type Breaker,
  type BreakerState,
  recordOutcome,
  newBreaker,
  type Outcome,
  pauseBreaker,
  healthByBreaker,
  breakerStateOf,
  type Verb,
  whyNot,
} from '../../core/provider/breaker.ts'
import type { AccountHealth } from '../../core/provider/accountHealth.ts'

export type Breakers = ReturnType<typeof createBreakers>

// The breakers of all accounts that this node talks to. One that knows of nothing bad is not kept, so there are as many
// as there are accounts in trouble or under way.
export function createBreakers(monotonicMs: () => number, closed: (account: string) => void) {
  const breakers = new Map<string, Breaker>()
  const of = (account: string) => breakers.get(account) ?? newBreaker

  function set(account: string, breaker: Breaker) {
    const now = monotonicMs()
    const isCalm =
      breakerStateOf(breaker, now) === 'closed' &&
      breaker.failed.start.length === 0 &&
      breaker.failed.ask.length === 0 &&
      breaker.probes === 0 &&
      breaker.restUntil <= now
    if (isCalm) breakers.delete(account)
    else breakers.set(account, breaker)
  }

  // An order that leaves while the breaker is not closed goes to see. Gives back how to tell what came of it; undefined
  // where it never left, for reasons of our own.
  function begin(account: string, verb: Verb, order: string) {
    const isProbe = verb === 'start' && breakerStateOf(of(account), monotonicMs()) !== 'closed'
    if (isProbe) set(account, { ...of(account), probes: of(account).probes + 1 })
    return (outcome: Outcome | undefined) => {
      const now = monotonicMs()
      const before = of(account)
      const breaker = isProbe ? { ...before, probes: Math.max(0, before.probes - 1) } : before
      const after = outcome ? recordOutcome(breaker, { verb, order }, outcome, now) : breaker
      set(account, after)
      if (before.openUntil !== null && after.openUntil === null) closed(account)
    }
  }

  return {
    begin,
    whyNot: (account: string, verb: Verb) => whyNot(of(account), verb, monotonicMs()),
    standingOf: (account: string): AccountHealth => healthByBreaker(of(account), monotonicMs()),
    stateOf: (account: string): BreakerState => breakerStateOf(of(account), monotonicMs()),
    restMs: (account: string) => Math.max(0, of(account).restUntil - monotonicMs()),
    rest: (account: string, restMs: number) => set(account, pauseBreaker(of(account), restMs, monotonicMs())),
    // Those that wait for somebody who goes to see.
    toProbe: () =>
      [...breakers.keys()].filter(
        account =>
          breakerStateOf(of(account), monotonicMs()) === 'probing' &&
          whyNot(of(account), 'start', monotonicMs()) === undefined,
      ),
  }
}
