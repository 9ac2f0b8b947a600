import type { Outcome, Verb } from '../../core/channel/breaker.ts'
import type { Channel, Pace } from '../../core/channel/channel.ts'
import type { Order } from '../../core/channel/order.ts'
import type { Heard, ReplyFacts } from '../../core/channel/reply.ts'
import { endingOf, type Standing, worse } from '../../core/channel/standing.ts'
import type { Mode } from '../../core/mode.ts'
import type { News } from '../../core/payment/change.ts'
import { type Breakers, createBreakers } from './breaker.ts'
import { createWindows, type Windows } from './health.ts'
import { createTurns, type Turn } from './rate.ts'

// How the accounts do, for whoever offers them.
export type Health = { of(account: string, payment_method: string): Standing }

export type Called = Pick<Order, 'attempt_id' | 'payment_method'>

// What came of a call. `put_off`: it did not leave, for reasons of our own.
export type CallSeen = {
  account: string
  payment_method: string
  verb: Verb
  outcome: Outcome | 'not_sent' | 'put_off'
  delayMs: number
  isOdd: boolean // a word that we do not know
}

// What was heard, how long after it left, and how long there was time.
export type Came = { heard: Heard; delayMs: number; withinMs: number }

// Stands before one account: whether something may leave, when, and what came of it.
export type Keeper = {
  whyNot(verb: Verb): string | undefined
  turn?: Turn // where the account has a rate
  // Gives back how to tell what was heard; undefined where it never left. That returns the reply to pass on. Without
  // `judgesAccount` the reply changes neither the breaker nor the health of the account, and pauses nothing.
  begin(verb: Verb, called: Called, judgesAccount?: boolean): (came: Came | undefined) => Heard | undefined
  putOff(verb: Verb, called: Called): void
}

type Learn = (outcome: Outcome | undefined) => void
type Kept = Pick<Channel, 'mode' | 'pace' | 'testEndings'>

export type Keepers = Health & {
  windows: Windows
  breakers: Breakers
  keeperOf(account: string, channel: Kept): Keeper
  ended(news: Pick<News, 'attempt' | 'events'>): void // after its commit
}

export type KeeperOptions = {
  nodes?(): number // that are there, this one among them
  watch?(seen: CallSeen): void
  monotonicMs?(): number
}

export function createKeepers({
  nodes = () => 1,
  watch = () => {},
  monotonicMs = () => performance.now(),
}: KeeperOptions = {}): Keepers {
  const windows = createWindows(monotonicMs)
  const breakers = createBreakers(monotonicMs, windows.forgive)
  const modes = new Map<string, Mode>() // of accounts that are open

  function turnOf({ perSecond, asksPerSecond }: Pace = {}): Turn | undefined {
    if (perSecond) return createTurns(perSecond, nodes, monotonicMs)
    const asking = asksPerSecond ? createTurns(asksPerSecond, nodes, monotonicMs) : undefined
    return asking && (async (verb, ...rest) => (verb === 'ask' ? asking(verb, ...rest) : undefined))
  }

  function keeperOf(account: string, { mode, pace, testEndings }: Kept): Keeper {
    modes.set(account, mode)
    const isPlayed = mode === 'test' && testEndings !== undefined // its troubles are a tester's wish
    const seen = (
      verb: Verb,
      { payment_method }: Called,
      outcome: CallSeen['outcome'],
      more: Partial<CallSeen> = {},
    ) => watch({ account, payment_method, verb, outcome, delayMs: 0, isOdd: false, ...more })
    return {
      whyNot: verb => breakers.whyNot(account, verb),
      turn: turnOf(pace),
      putOff: (verb, called) => seen(verb, called, 'put_off'),
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

    function judge({ payment_method, attempt_id }: Called, { heard, delayMs, withinMs }: Came, learn: Learn) {
      const outcome = outcomeOf(heard)
      const isLate = delayMs > withinMs / 2 && !isPlayed
      if (outcome === 'answered') windows.see(account, payment_method, { what: outcome, delayMs, isLate })
      else if (!isPlayed) windows.see(account, payment_method, { what: outcome })
      if (outcome === 'answered') windows.accept(account, payment_method)
      else if (!isPlayed && 'words' in heard)
        windows.fail(account, payment_method, attempt_id, heard.words, isRefusal(heard))
      const restMs = heard.state === 'unknown' ? heard.restMs : undefined
      learn(restMs || isPlayed ? undefined : outcome) // who wants to be left alone has answered, and is
      if (restMs) breakers.rest(account, restMs)
    }

    function hear(verb: Verb, called: Called, { heard, delayMs }: Came): Heard {
      const oddWord = 'oddWord' in heard ? heard.oddWord : undefined
      if (oddWord) windows.hearOddWord(account, called.payment_method, oddWord)
      const outcome = outcomeOf(heard)
      const isOdd = oddWord !== undefined
      seen(verb, called, heard.state === 'not_sent' ? 'not_sent' : outcome, { delayMs, isOdd })
      return !isPlayed && isRepeated(called, heard) ? ({ ...heard, isRepeatedCode: true } as Heard) : heard
    }

    // A code is unknown if the channel says so by `oddWord`.
    function isRepeated({ payment_method, attempt_id }: Called, heard: Heard): boolean {
      const { oddWord, provider_code } = heard as ReplyFacts
      return (
        oddWord !== undefined &&
        provider_code !== undefined &&
        windows.repeatsCode(account, payment_method, provider_code, attempt_id)
      )
    }
  }

  return {
    windows,
    breakers,
    keeperOf,
    of: (account, payment_method) => worse(breakers.standingOf(account), windows.of(account, payment_method)),
    // What a tester chose says nothing about the account.
    ended({ attempt: { channel, payment_method, state, reason }, events }) {
      const isNews = events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed')
      const what = isNews ? endingOf(state, reason) : undefined
      if (what && (what === 'paid' || modes.get(channel) !== 'test'))
        windows.see(channel, payment_method, { what })
    },
  }
}

const isRefusal = (heard: Heard) => 'isRefusal' in heard && heard.isRefusal === true

// A word that we do not know is an answer all the same: somebody is there.
const outcomeOf = (heard: Heard): Outcome => {
  if (heard.state === 'not_sent') return 'unanswered'
  if (heard.state !== 'unknown') return 'answered'
  return heard.acknowledged || heard.oddWord ? 'answered' : 'unanswered'
}

export const noKeeper: Keeper = {
  whyNot: () => undefined,
  begin: () => came => came?.heard,
  putOff: () => {},
}
