import { maskNumbers } from '../../core/mask.ts'
import { sampleOf } from '../../core/channel/oddWord.ts'
import {
  addedUp,
  judge,
  type Seen,
  type SeenWindow,
  type Standing,
  see,
  type Tally,
  tallyOf,
} from '../../core/channel/standing.ts'
import { type CodeCount, countCode, nothingCounted } from '../../core/channel/unknownCode.ts'

const mostWays = 5000 // of all accounts; the one that was heard of longest ago is forgotten
const mostWords = 10 // of one way
const mostCodes = 20 // of one way; the one that was seen longest ago is forgotten
const maxError = 200 // characters
const othersMs = 60_000 // what another node saw is worth so long

// What this process saw of one way of an account.
type KnownWay = {
  account: string
  payment_method: string
  window: SeenWindow
  answeredAt: number | null // monotonic milliseconds; so is the next
  paidAt: number | null
  oddWords: Map<string, number> // masked, with how often
  unknownCodes: Map<string, CodeCount>
  lastError: CallError | null // since the last answer
  isNews: boolean // not told to the others yet
}
// Why a call was not answered, in the provider's words or those of the network. `isRefusal`: it refuses our credentials.
export type CallError = { words: string; isRefusal: boolean; at: number }
// An account that its provider refuses, with the attempt that met it first, or accepts again.
export type AccountNews = { account: string; refused?: { words: string; attempt_id: string } }
export type SeenWay = Omit<KnownWay, 'window' | 'isNews' | 'oddWords' | 'unknownCodes'> & {
  tally: Tally
  oddWords: readonly (readonly [sample: string, count: number])[]
}
export type OthersView = { account: string; payment_method: string; tally: Tally; agoMs: number }

export type Windows = ReturnType<typeof createWindows>

// How accounts do, way by way, in the last minutes: by what this node has seen, and what others have told.
export function createWindows(monotonicMs: () => number) {
  const ways = new Map<string, KnownWay>()
  const accounts = new Map<string, 'refused' | 'accepted'>() // those that this process has called
  let accountNews = new Map<string, AccountNews>()
  let others = new Map<string, { tally: Tally; until: number }[]>()

  function wayOf(account: string, payment_method: string): KnownWay {
    const key = keyOf(account, payment_method)
    const way = ways.get(key) ?? { ...nothingKnown(), account, payment_method }
    ways.delete(key) // and set again: a Map keeps the order of insertion, so the first is the stalest
    ways.set(key, way)
    if (ways.size > mostWays) ways.delete(ways.keys().next().value as string)
    return way
  }

  function of(account: string, payment_method: string): Standing {
    const now = monotonicMs()
    const key = keyOf(account, payment_method)
    const told = others.get(key)?.filter(({ until }) => now < until) ?? []
    const ours = tallyOf(ways.get(key)?.window ?? [], now)
    return judge(told.length > 0 ? addedUp([ours, ...told.map(({ tally }) => tally)]) : ours)
  }

  const shown = ({
    account,
    payment_method,
    window,
    answeredAt,
    paidAt,
    oddWords,
    lastError,
  }: KnownWay): SeenWay => ({
    account,
    payment_method,
    answeredAt,
    paidAt,
    lastError,
    tally: tallyOf(window, monotonicMs()),
    oddWords: [...oddWords],
  })

  return {
    of,
    see(account: string, payment_method: string, seen: Seen) {
      const way = wayOf(account, payment_method)
      const now = monotonicMs()
      way.window = see(way.window, seen, now)
      if (seen.what === 'answered') way.answeredAt = now
      if (seen.what === 'paid') way.paidAt = now
      way.isNews = true
    },
    // A call came back without an answer.
    fail(account: string, payment_method: string, attempt_id: string, words: string, isRefusal: boolean) {
      const text = maskNumbers(words).slice(0, maxError)
      wayOf(account, payment_method).lastError = { words: text, isRefusal, at: monotonicMs() }
      if (!isRefusal || accounts.get(account) === 'refused') return
      accounts.set(account, 'refused')
      accountNews.set(account, { account, refused: { words: text, attempt_id } })
    },
    // An answer shows that the provider accepts the credentials, whichever way to pay was asked for.
    accept(account: string, payment_method: string) {
      for (const way of ways.values())
        if (way.account === account && (way.payment_method === payment_method || way.lastError?.isRefusal))
          way.lastError = null
      if (accounts.get(account) === 'accepted') return
      accounts.set(account, 'accepted')
      accountNews.set(account, { account })
    },
    isRefused: (account: string) => accounts.get(account) === 'refused',
    // Since it was last asked for. Where it could not be stored, `again` keeps it for the next time.
    accountNews() {
      const told = accountNews
      accountNews = new Map()
      return { news: [...told.values()], again: () => (accountNews = new Map([...told, ...accountNews])) }
    },
    hearOddWord(account: string, payment_method: string, word: string) {
      const { oddWords } = wayOf(account, payment_method)
      const sample = sampleOf(word)
      const name = oddWords.has(sample) || oddWords.size < mostWords ? sample : 'others'
      oddWords.set(name, (oddWords.get(name) ?? 0) + 1)
    },
    // True if this attempt is the third with the same unknown code.
    repeatsCode(account: string, payment_method: string, code: string, attempt_id: string): boolean {
      const { unknownCodes } = wayOf(account, payment_method)
      const known = unknownCodes.get(code) ?? nothingCounted
      const { count, isRepeated } = countCode(known, attempt_id, monotonicMs())
      unknownCodes.delete(code) // and set again: the first of a Map is the stalest
      unknownCodes.set(code, count)
      if (unknownCodes.size > mostCodes) unknownCodes.delete(unknownCodes.keys().next().value as string)
      return isRepeated
    },
    // It is well again: what was seen before says nothing any more.
    forgive(account: string) {
      for (const way of ways.values()) if (way.account === account) way.window = []
    },
    all: () => [...ways.values()].map(shown),
    // What the others have not heard yet. Where they could not be told, `again` keeps it for the next time.
    news() {
      const told = [...ways.values()].filter(({ isNews }) => isNews)
      for (const way of told) way.isNews = false
      return { ways: told.map(shown), again: () => told.forEach(way => (way.isNews = true)) }
    },
    hearOthers(views: readonly OthersView[]) {
      const now = monotonicMs()
      others = new Map()
      for (const { account, payment_method, tally, agoMs } of views) {
        const key = keyOf(account, payment_method)
        others.set(key, [...(others.get(key) ?? []), { tally, until: now + othersMs - agoMs }])
      }
    },
  }
}

const keyOf = (account: string, payment_method: string) => `${account} ${payment_method}`

const nothingKnown = () => ({
  window: [],
  answeredAt: null,
  paidAt: null,
  oddWords: new Map<string, number>(),
  unknownCodes: new Map<string, CodeCount>(),
  lastError: null,
  isNews: false,
})
