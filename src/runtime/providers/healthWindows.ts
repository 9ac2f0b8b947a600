import { maskNumbers } from '../../core/mask.ts'
import { maskedSample } from '../../core/provider/unknownCode.ts'
import {
  sumCounts,
  healthOf,
  type CallOutcome,
  type CallWindow,
  type AccountHealth,
  countCall,
  type CallCounts,
  countsOf,
} from '../../core/provider/accountHealth.ts'
import { type CodeCount, countCode, nothingCounted } from '../../core/provider/unknownCode.ts'

const mostWays = 5000 // of all accounts; the one that was heard of longest ago is forgotten
const mostWords = 10 // of one method
const mostCodes = 20 // of one method; the one that was seen longest ago is forgotten
const maxError = 200 // characters
const othersMs = 60_000 // what another node saw is worth so long

// What this process saw of one method of an account.
type KnownMethod = {
  account: string
  payment_method: string
  window: CallWindow
  answeredAt: number | null // monotonic milliseconds; so is the next
  paidAt: number | null
  unknownCodes: Map<string, number> // masked samples with their counts
  codeCounts: Map<string, CodeCount>
  lastError: CallError | null // since the last answer
  isNews: boolean // not told to the others yet
}
// Why a call was not answered, in the provider's words or those of the network. `isRefusal`: it refuses our credentials.
export type CallError = { words: string; isRefusal: boolean; at: number }
// An account that its provider refuses, with the attempt that met it first, or accepts again.
export type HealthUpdate = { account: string; refused?: { words: string; attempt_id: string } }
export type MethodHealth = Omit<KnownMethod, 'window' | 'isNews' | 'unknownCodes' | 'codeCounts'> & {
  counts: CallCounts
  unknownCodes: readonly (readonly [sample: string, count: number])[]
}
export type OtherNodesHealth = { account: string; payment_method: string; counts: CallCounts; agoMs: number }

export type HealthWindows = ReturnType<typeof createHealthWindows>

// How accounts do, method by method, in the last minutes: by what this node has seen, and what others have told.
export function createHealthWindows(monotonicMs: () => number) {
  const methods = new Map<string, KnownMethod>()
  const accounts = new Map<string, 'refused' | 'accepted'>() // those that this process has called
  let accountNews = new Map<string, HealthUpdate>()
  let others = new Map<string, { tally: CallCounts; until: number }[]>()

  function wayOf(account: string, payment_method: string): KnownMethod {
    const key = keyOf(account, payment_method)
    const method = methods.get(key) ?? { ...nothingKnown(), account, payment_method }
    methods.delete(key) // and set again: a Map keeps the order of insertion, so the first is the stalest
    methods.set(key, method)
    if (methods.size > mostWays) methods.delete(methods.keys().next().value as string)
    return method
  }

  function of(account: string, payment_method: string): AccountHealth {
    const now = monotonicMs()
    const key = keyOf(account, payment_method)
    const told = others.get(key)?.filter(({ until }) => now < until) ?? []
    const ours = countsOf(methods.get(key)?.window ?? [], now)
    return healthOf(told.length > 0 ? sumCounts([ours, ...told.map(({ tally }) => tally)]) : ours)
  }

  const shown = ({
    account,
    payment_method,
    window,
    answeredAt,
    paidAt,
    unknownCodes,
    lastError,
  }: KnownMethod): MethodHealth => ({
    account,
    payment_method,
    answeredAt,
    paidAt,
    lastError,
    counts: countsOf(window, monotonicMs()),
    unknownCodes: [...unknownCodes],
  })

  return {
    of,
    count(account: string, payment_method: string, seen: CallOutcome) {
      const method = wayOf(account, payment_method)
      const now = monotonicMs()
      method.window = countCall(method.window, seen, now)
      if (seen.what === 'answered') method.answeredAt = now
      if (seen.what === 'paid') method.paidAt = now
      method.isNews = true
    },
    // A call came back without an answer.
    fail(account: string, payment_method: string, attempt_id: string, words: string, isRefusal: boolean) {
      const text = maskNumbers(words).slice(0, maxError)
      wayOf(account, payment_method).lastError = { words: text, isRefusal, at: monotonicMs() }
      if (!isRefusal || accounts.get(account) === 'refused') return
      accounts.set(account, 'refused')
      accountNews.set(account, { account, refused: { words: text, attempt_id } })
    },
    // An answer shows that the provider accepts the credentials, whichever method to pay was asked for.
    accept(account: string, payment_method: string) {
      for (const method of methods.values())
        if (
          method.account === account &&
          (method.payment_method === payment_method || method.lastError?.isRefusal)
        )
          method.lastError = null
      if (accounts.get(account) === 'accepted') return
      accounts.set(account, 'accepted')
      accountNews.set(account, { account })
    },
    isRefused: (account: string) => accounts.get(account) === 'refused',
    // Since it was last asked for. Where it could not be stored, `again` keeps it for the next time.
    accountNews() {
      const told = accountNews
      accountNews = new Map()
      return {
        takeUpdates: [...told.values()],
        again: () => (accountNews = new Map([...told, ...accountNews])),
      }
    },
    countUnknownCode(account: string, payment_method: string, code: string) {
      const { unknownCodes } = wayOf(account, payment_method)
      const sample = maskedSample(code)
      const name = unknownCodes.has(sample) || unknownCodes.size < mostWords ? sample : 'others'
      unknownCodes.set(name, (unknownCodes.get(name) ?? 0) + 1)
    },
    // True if this attempt is the third with the same unknown code.
    repeatsCode(account: string, payment_method: string, code: string, attempt_id: string): boolean {
      const { codeCounts } = wayOf(account, payment_method)
      const known = codeCounts.get(code) ?? nothingCounted
      const { count, isRepeated } = countCode(known, attempt_id, monotonicMs())
      codeCounts.delete(code) // and set again: the first of a Map is the stalest
      codeCounts.set(code, count)
      if (codeCounts.size > mostCodes) codeCounts.delete(codeCounts.keys().next().value as string)
      return isRepeated
    },
    // The account has recovered, so earlier failures no longer count.
    resetWindows(account: string) {
      for (const method of methods.values()) if (method.account === account) method.window = []
    },
    all: () => [...methods.values()].map(shown),
    // What the others have not heard yet. Where they could not be told, `again` keeps it for the next time.
    news() {
      const told = [...methods.values()].filter(({ isNews }) => isNews)
      for (const method of told) method.isNews = false
      return { methods: told.map(shown), again: () => told.forEach(method => (method.isNews = true)) }
    },
    setOtherNodes(views: readonly OtherNodesHealth[]) {
      const now = monotonicMs()
      others = new Map()
      for (const { account, payment_method, counts: tally, agoMs } of views) {
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
  unknownCodes: new Map<string, number>(),
  codeCounts: new Map<string, CodeCount>(),
  lastError: null,
  isNews: false,
})
