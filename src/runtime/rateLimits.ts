import { tooManyRequests } from '../core/interface/refusal.ts'
import { type Bucket, fullBucket, refill } from '../core/interface/tokenBucket.ts'
import type { Caller } from '../store/merchants/callers.ts'

// Tokens a second, and the size of the bucket.
const lookupRate = 20 // failed lookups
const lookupBurst = 100
const visitRate = 300 // pages of payments: a whole mobile network may share one address
const visitBurst = 3000
const sandboxRate = 50 // pages of the sandbox: testers, and programs that test
const sandboxBurst = 500
const wrongTokenRate = 1 // passwords of operators
const wrongTokenBurst = 20
const maxBuckets = 20_000

// Token buckets. Signed requests count for the merchant. Unsigned requests count for merchant and address, so that a
// client that knows a merchant's key does not use up the merchant's limit. Otherwise an address is limited only by its
// failed lookups (unknown merchant, wrong hash, unknown invoice): guessing is slow, and honest traffic is not limited.
export type RateLimits = {
  request(caller: Caller): void
  unsigned(caller: Caller, address: string): void
  guess(address: string): void
  failedLookup(address: string): void
  visit(address: string): void
  visitSandbox(address: string): void
  unknownToken(address: string): void
  unknownCallback(address: string): void
  hasUnknownCallbacksLeft(address: string): boolean
  tryToken(door: string, address: string): void
  wrongToken(door: string, address: string): void
}

export function createRateLimits(monotonicMs: () => number): RateLimits {
  // Separate maps, so that many buckets of one kind do not evict those of another.
  const signed = new Map<string, Bucket>()
  const unsigned = new Map<string, Bucket>()
  const failedLookups = new Map<string, Bucket>()
  const visits = new Map<string, Bucket>()
  const sandboxVisits = new Map<string, Bucket>()
  const unknownTokens = new Map<string, Bucket>()
  const unknownCallbacks = new Map<string, Bucket>()
  const wrongTokens = new Map<string, Bucket>()

  function level(buckets: Map<string, Bucket>, key: string, rate: number, burst: number): Bucket {
    const now = monotonicMs()
    const bucket = buckets.get(key)
    const filled = bucket ? refill(bucket, rate, burst, now) : fullBucket(burst, now)
    buckets.delete(key) // and set again: a Map keeps the order of insertion, so the first was not used for longest
    buckets.set(key, filled)
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value as string)
    return filled
  }

  function take(buckets: Map<string, Bucket>, key: string, rate: number, burst: number) {
    const bucket = level(buckets, key, rate, burst)
    if (bucket.tokens < 1) throw tooManyRequests(Math.ceil((1 - bucket.tokens) / rate))
    bucket.tokens -= 1
  }

  return {
    request({ merchant_key, settings: { rate_limit, rate_burst } }) {
      if (rate_limit > 0) take(signed, merchant_key, rate_limit, rate_burst)
    },
    unsigned({ merchant_key, settings: { rate_limit, rate_burst } }, address) {
      if (rate_limit > 0) take(unsigned, `${merchant_key} ${network(address)}`, rate_limit, rate_burst)
    },
    // An unsigned request may be a guess: it is refused while the address has used up its failed lookups.
    guess(address) {
      if (level(failedLookups, network(address), lookupRate, lookupBurst).tokens < 1) throw tooManyRequests(1)
    },
    failedLookup(address) {
      take(failedLookups, network(address), lookupRate, lookupBurst)
    },
    visit(address) {
      take(visits, network(address), visitRate, visitBurst)
    },
    // Separate from `visit`, so that test traffic does not lock out payers behind the same address.
    visitSandbox(address) {
      take(sandboxVisits, network(address), sandboxRate, sandboxBurst)
    },
    // Unknown tokens have their own rate limit, so that guessing does not lock out payers behind the same NAT.
    unknownToken(address) {
      take(unknownTokens, network(address), lookupRate, lookupBurst)
    },
    // A callback for an unknown attempt or account, or a webhook with a wrong signature. It has its own rate limit, so that
    // a flood locks out neither payers nor shops behind the same address.
    unknownCallback(address) {
      take(unknownCallbacks, network(address), lookupRate, lookupBurst)
    },
    hasUnknownCallbacksLeft: address =>
      level(unknownCallbacks, network(address), lookupRate, lookupBurst).tokens >= 1,
    // Before a token is compared. While the address has used up its wrong tokens, the right one is refused, too.
    tryToken(door, address) {
      const key = `${door} ${network(address)}`
      const { tokens } = level(wrongTokens, key, wrongTokenRate, wrongTokenBurst)
      if (tokens < 1) throw tooManyRequests(Math.ceil((1 - tokens) / wrongTokenRate))
    },
    wrongToken(door, address) {
      take(wrongTokens, `${door} ${network(address)}`, wrongTokenRate, wrongTokenBurst)
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
