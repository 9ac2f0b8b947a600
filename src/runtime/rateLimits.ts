import { tooManyRequests } from '../core/interface/refusal.ts'
import type { Caller } from '../store/merchants/callers.ts'

type Limit = { rate: number; burst: number } // tokens a second, and the size of the bucket
type Bucket = { tokens: number; at: number } // at: monotonic ms
const lookupLimit: Limit = { rate: 20, burst: 100 } // failed lookups
const visitLimit: Limit = { rate: 300, burst: 3000 } // pages of payments: a whole mobile network may share one address
const sandboxLimit: Limit = { rate: 50, burst: 500 } // pages of the sandbox: testers, and programs that test
const testToolLimit: Limit = { rate: 5, burst: 50 } // triggers and clocks of one merchant, each with many statements
const endpointTestLimit: Limit = { rate: 1 / 10, burst: 5 } // test notifications of one merchant, each up to ten seconds
const wrongTokenLimit: Limit = { rate: 1, burst: 20 } // passwords of operators
const diagnosisLimit: Limit = { rate: 20, burst: 100 } // of all clients together: each takes a few milliseconds
const searchLimit = diagnosisLimit // of the documentation, for the same reason
const signInLimit: Limit = { rate: 1 / 30, burst: 10 } // wrong passwords and codes of one account, or of one known browser
const signInAddressLimit: Limit = { rate: 1 / 5, burst: 30 } // of one address: an office shares one
const maxBuckets = 20_000 // of one kind

// Token buckets. Signed requests count for the merchant. Unsigned requests count for merchant and address, so that a
// client that knows a merchant's key does not use up the merchant's limit. Otherwise an address is limited only by its
// failed lookups (unknown merchant, wrong hash, unknown invoice): guessing is slow, and honest traffic is not limited.
export type RateLimits = {
  request(caller: Caller): void
  unsigned(caller: Caller, address: string): void
  guess(address: string): void
  failedLookup(address: string): void
  mayDiagnose(): boolean // counts one diagnosis of a wrong hash
  maySearchDocs(): boolean // counts one search of the documentation
  visit(address: string): void
  visitSandbox(address: string): void
  unknownToken(address: string): void
  unknownCallback(address: string): void
  hasUnknownCallbacksLeft(address: string): boolean
  tryToken(page: string, address: string): void
  wrongToken(page: string, address: string): void
  testTool(caller: Caller): void
  mayTestEndpoint(merchant_id: string): boolean // counts one test notification
  trySignIn(guess: SignInGuess): () => void // counts it as wrong; the result takes that back
}

// `account` is a digest of the typed address. `device` is set if the browser has signed in to this account before.
export type SignInGuess = {
  kind: 'password' | 'code' | 'reset' | 'passkey'
  account: string
  address: string
  device?: string
}

export function createRateLimits(monotonicMs: () => number): RateLimits {
  const signed = createBuckets(monotonicMs)
  const unsigned = createBuckets(monotonicMs)
  const failedLookups = createBuckets(monotonicMs)
  const shared = createBuckets(monotonicMs) // of all clients together
  const visits = createBuckets(monotonicMs)
  const sandboxVisits = createBuckets(monotonicMs)
  const unknownTokens = createBuckets(monotonicMs)
  const unknownCallbacks = createBuckets(monotonicMs)
  const wrongTokens = createBuckets(monotonicMs)
  const testTools = createBuckets(monotonicMs)
  const endpointTests = createBuckets(monotonicMs)
  const signIns = createBuckets(monotonicMs)
  const signInAddresses = createBuckets(monotonicMs)
  const knownBrowsers = createBuckets(monotonicMs)
  return {
    request({ merchant_key, settings: { rate_limit: rate, rate_burst: burst } }) {
      if (rate > 0) signed.take(merchant_key, { rate, burst })
    },
    unsigned({ merchant_key, settings: { rate_limit: rate, rate_burst: burst } }, address) {
      if (rate > 0) unsigned.take(`${merchant_key} ${network(address)}`, { rate, burst })
    },
    // An unsigned request may be a guess: it is refused while the address has used up its failed lookups.
    guess: address => failedLookups.check(network(address), lookupLimit),
    failedLookup: address => failedLookups.take(network(address), lookupLimit),
    mayDiagnose: () => shared.mayTake('diagnoses', diagnosisLimit),
    maySearchDocs: () => shared.mayTake('searches', searchLimit),
    visit: address => visits.take(network(address), visitLimit),
    // Separate from `visit`, so that test traffic does not lock out payers behind the same address.
    visitSandbox: address => sandboxVisits.take(network(address), sandboxLimit),
    // Unknown tokens have their own rate limit, so that guessing does not lock out payers behind the same NAT.
    unknownToken: address => unknownTokens.take(network(address), lookupLimit),
    // A callback for an unknown attempt or account, or a webhook with a wrong signature. It has its own rate limit, so that
    // a flood locks out neither payers nor shops behind the same address.
    unknownCallback: address => unknownCallbacks.take(network(address), lookupLimit),
    hasUnknownCallbacksLeft: address => unknownCallbacks.refilled(network(address), lookupLimit).tokens >= 1,
    // Before a token is compared. While the address has used up its wrong tokens, the right one is refused, too.
    tryToken: (page, address) => wrongTokens.check(`${page} ${network(address)}`, wrongTokenLimit),
    wrongToken: (page, address) => wrongTokens.take(`${page} ${network(address)}`, wrongTokenLimit),
    // In addition to `request`, which an operator can switch off.
    testTool: ({ merchant_id }) => testTools.take(merchant_id, testToolLimit),
    mayTestEndpoint: merchant_id => endpointTests.mayTake(merchant_id, endpointTestLimit),
    // Counted before the password is compared, so that many at once are limited, too. A known browser has its own bucket:
    // guesses from another browser do not lock the owner out.
    trySignIn({ kind, account, address, device }) {
      if (device !== undefined) return knownBrowsers.takeBackably(`${kind} ${device}`, signInLimit)
      const undoAddress = signInAddresses.takeBackably(network(address), signInAddressLimit)
      const undoAccount = signIns.takeBackably(`${kind} ${account}`, signInLimit)
      return () => {
        undoAddress()
        undoAccount()
      }
    },
  }
}

// The buckets of one kind. Each kind has its own map, so that many buckets of one kind do not evict those of another.
function createBuckets(monotonicMs: () => number) {
  const buckets = new Map<string, Bucket>()

  function refilled(key: string, { rate, burst }: Limit): Bucket {
    const now = monotonicMs()
    const bucket = buckets.get(key)
    const gained = bucket ? ((now - bucket.at) / 1000) * rate : burst
    const filled = { tokens: Math.min(burst, (bucket?.tokens ?? 0) + gained), at: now }
    buckets.delete(key) // and set again: a Map has the order of insertion, so the first is the least recently used
    buckets.set(key, filled)
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value as string)
    return filled
  }

  // Throws if the bucket is empty.
  function check(key: string, limit: Limit): Bucket {
    const bucket = refilled(key, limit)
    if (bucket.tokens < 1) throw tooManyRequests(Math.ceil((1 - bucket.tokens) / limit.rate))
    return bucket
  }

  return {
    refilled,
    check,
    take(key: string, limit: Limit) {
      check(key, limit).tokens -= 1
    },
    // Returns what gives the token back.
    takeBackably(key: string, limit: Limit): () => void {
      check(key, limit).tokens -= 1
      return () => {
        refilled(key, limit).tokens += 1
      }
    },
    mayTake(key: string, limit: Limit): boolean {
      const bucket = refilled(key, limit)
      if (bucket.tokens < 1) return false
      bucket.tokens -= 1
      return true
    },
  }
}

// A household or a machine has a whole /64 of IPv6, so all of it counts as one address.
export function network(address: string): string {
  const plain = address.replace(/^::ffff:/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const groups = head.split(':')
  if (tail !== undefined) {
    const end = tail.split(':').filter(Boolean)
    while (groups.length + end.length < 8) groups.push('0')
    groups.push(...end)
  }
  return groups.slice(0, 4).join(':')
}
