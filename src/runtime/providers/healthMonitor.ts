import type { Outcome, Verb } from '../../core/provider/breaker.ts'
import type { ProviderAccount, ProviderTiming } from '../../core/provider/provider.ts'
import type { Order } from '../../core/provider/order.ts'
import type { SanitizedReply, ReplyFacts } from '../../core/provider/reply.ts'
import { callOutcomeOf, type AccountHealth, worseHealth } from '../../core/provider/accountHealth.ts'
import type { Mode } from '../../core/mode.ts'
import type { StatusUpdate } from '../../core/payment/change.ts'
import { type Breakers, createBreakers } from './breaker.ts'
import { createHealthWindows, type HealthWindows } from './healthWindows.ts'
import { createRateLimiter, type WaitForTurn } from './rateLimiter.ts'

// How the accounts do, for whoever offers them.
export type HealthReader = { of(account: string, payment_method: string): AccountHealth }

export type CallSubject = Pick<Order, 'attempt_id' | 'payment_method'>

// What came of a call. `put_off`: it did not leave, for reasons of our own.
export type ObservedCall = {
  account: string
  payment_method: string
  verb: Verb
  outcome: Outcome | 'not_sent' | 'put_off'
  delayMs: number
  isOdd: boolean // a word that we do not know
}

// The reply to a call, how long it took, and its timeout.
export type CallResult = { heard: SanitizedReply; delayMs: number; withinMs: number }

// Decides for one account whether a call may be sent and when, and records its outcome.
export type HealthMonitor = {
  whyNot(verb: Verb): string | undefined
  turn?: WaitForTurn // where the account has a rate
  // Returns a function that takes the result of the call, or undefined if it was never sent, and returns the reply to pass
  // on. Without `judgesAccount` the reply changes neither the breaker nor the health of the account, and pauses nothing.
  begin(
    verb: Verb,
    called: CallSubject,
    judgesAccount?: boolean,
  ): (came: CallResult | undefined) => SanitizedReply | undefined
  postpone(verb: Verb, called: CallSubject): void
}

type Learn = (outcome: Outcome | undefined) => void
type Kept = Pick<ProviderAccount, 'mode' | 'timing' | 'testEndings'>

export type HealthMonitors = HealthReader & {
  windows: HealthWindows
  breakers: Breakers
  monitorFor(account: string, providerAccount: Kept): HealthMonitor
  ended(news: Pick<StatusUpdate, 'attempt' | 'events'>): void // after its commit
}

export type HealthMonitorOptions = {
  nodes?(): number // that are there, this one among them
  watch?(seen: ObservedCall): void
  monotonicMs?(): number
}

export function createHealthMonitors({
  nodes = () => 1,
  watch = () => {},
  monotonicMs = () => performance.now(),
}: HealthMonitorOptions = {}): HealthMonitors {
  const windows = createHealthWindows(monotonicMs)
  const breakers = createBreakers(monotonicMs, windows.resetWindows)
  const modes = new Map<string, Mode>() // of accounts that are open

  function turnOf({
    callsPerSecond: perSecond,
    pollsPerSecond,
  }: ProviderTiming = {}): WaitForTurn | undefined {
    if (perSecond) return createRateLimiter(perSecond, nodes, monotonicMs)
    const asking = pollsPerSecond ? createRateLimiter(pollsPerSecond, nodes, monotonicMs) : undefined
    return asking && (async (verb, ...rest) => (verb === 'ask' ? asking(verb, ...rest) : undefined))
  }

  function monitorFor(account: string, { mode, timing, testEndings }: Kept): HealthMonitor {
    modes.set(account, mode)
    const isPlayed = mode === 'test' && testEndings !== undefined // its troubles are a tester's wish
    const seen = (
      verb: Verb,
      { payment_method }: CallSubject,
      outcome: ObservedCall['outcome'],
      more: Partial<ObservedCall> = {},
    ) => watch({ account, payment_method, verb, outcome, delayMs: 0, isOdd: false, ...more })
    return {
      whyNot: verb => breakers.whyNot(account, verb),
      turn: turnOf(timing),
      postpone: (verb, called) => seen(verb, called, 'put_off'),
      begin(verb, called, judgesAccount = true) {
        const learn = breakers.begin(account, verb, called.attempt_id)
        return came => {
          if (came && judgesAccount) judge(called, came, learn)
          else learn(undefined)
          if (came) return hear(verb, called, came)
          seen(verb, called, 'put_off')
          return undefined
        }
      },
    }

    function judge(
      { payment_method, attempt_id }: CallSubject,
      { heard, delayMs, withinMs }: CallResult,
      learn: Learn,
    ) {
      const outcome = outcomeOf(heard)
      const isLate = delayMs > withinMs / 2 && !isPlayed
      if (outcome === 'answered') windows.count(account, payment_method, { what: outcome, delayMs, isLate })
      else if (!isPlayed) windows.count(account, payment_method, { what: outcome })
      if (outcome === 'answered') windows.accept(account, payment_method)
      else if (!isPlayed && 'words' in heard)
        windows.fail(account, payment_method, attempt_id, heard.words, isRefusal(heard))
      const restMs = heard.state === 'unknown' ? heard.restMs : undefined
      learn(restMs || isPlayed ? undefined : outcome) // who wants to be left alone has answered, and is
      if (restMs) breakers.rest(account, restMs)
    }

    function hear(verb: Verb, called: CallSubject, { heard, delayMs }: CallResult): SanitizedReply {
      const unknownCode = 'unknownCode' in heard ? heard.unknownCode : undefined
      if (unknownCode) windows.countUnknownCode(account, called.payment_method, unknownCode)
      const outcome = outcomeOf(heard)
      const isOdd = unknownCode !== undefined
      seen(verb, called, heard.state === 'not_sent' ? 'not_sent' : outcome, { delayMs, isOdd })
      return !isPlayed && isRepeated(called, heard)
        ? ({ ...heard, isRepeatedCode: true } as SanitizedReply)
        : heard
    }

    // A code is unknown if the provider says so by `unknownCode`.
    function isRepeated({ payment_method, attempt_id }: CallSubject, reply: SanitizedReply): boolean {
      const { unknownCode, provider_code } = reply as ReplyFacts
      return (
        unknownCode !== undefined &&
        provider_code !== undefined &&
        windows.repeatsCode(account, payment_method, provider_code, attempt_id)
      )
    }
  }

  return {
    windows,
    breakers,
    monitorFor,
    of: (account, payment_method) =>
      worseHealth(breakers.standingOf(account), windows.of(account, payment_method)),
    // What a tester chose says nothing about the account.
    ended({ attempt: { provider_account, payment_method, state, reason }, events }) {
      const isNews = events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed')
      const what = isNews ? callOutcomeOf(state, reason) : undefined
      if (what && (what === 'paid' || modes.get(provider_account) !== 'test'))
        windows.count(provider_account, payment_method, { what })
    },
  }
}

const isRefusal = (reply: SanitizedReply) => 'isRefusal' in reply && reply.isRefusal === true

// A word that we do not know is an answer all the same: somebody is there.
const outcomeOf = (reply: SanitizedReply): Outcome => {
  if (reply.state === 'not_sent') return 'unanswered'
  if (reply.state !== 'unknown') return 'answered'
  return reply.acknowledged || reply.unknownCode ? 'answered' : 'unanswered'
}

export const noHealthMonitor: HealthMonitor = {
  whyNot: () => undefined,
  begin: () => came => came?.heard,
  postpone: () => {},
}
