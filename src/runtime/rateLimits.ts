import { tooManyRequests } from '../core/interface/refusal.ts'
import { type Bucket, fullBucket, refill } from '../core/interface/tokenBucket.ts'
import type { Caller } from '../store/merchants/callers.ts'

const missRate = 20
const missBurst = 100
const visitRate = 300 // pages of payments: a whole mobile network may share one address
const visitBurst = 3000
const sandboxRate = 50 // pages of the sandbox: testers, and programs that test
const sandboxBurst = 500
const wrongTokenRate = 1 // passwords of operators
const wrongTokenBurst = 20
const maxBuckets = 20_000

// How fast one may ask. A merchant has its own rate for what it signs. For what it does not, each address has the same
// rate by itself: whoever knows a merchant's key takes nothing from the merchant. An address is slowed otherwise only by
// its misses (unknown merchant, wrong hash, unknown invoice), so that guessing is slow and honest traffic is not.
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
  const merchants = new Map<string, Bucket>()
  const strangers = new Map<string, Bucket>() // apart, so that however many they are, they push out no merchant
  const addresses = new Map<string, Bucket>()
  const visitors = new Map<string, Bucket>()
  const testers = new Map<string, Bucket>()
  const strays = new Map<string, Bucket>()
  const callbacks = new Map<string, Bucket>()
  const guessers = new Map<string, Bucket>()

  function level(buckets: Map<string, Bucket>, key: string, rate: number, burst: number): Bucket {
    const now = monotonicMs()
    const bucket = buckets.get(key)
    const filled = bucket ? refill(bucket, rate, burst, now) : fullBucket(burst, now)
    buckets.delete(key) // and set again: a Map keeps the order of insertion, so the first is the stalest
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
      if (rate_limit > 0) take(merchants, merchant_key, rate_limit, rate_burst)
    },
    unsigned({ merchant_key, settings: { rate_limit, rate_burst } }, address) {
      if (rate_limit > 0) take(strangers, `${merchant_key} ${network(address)}`, rate_limit, rate_burst)
    },
    // An unsigned question could be a guess: it has to wait while the address is out of misses.
    guess(address) {
      if (level(addresses, network(address), missRate, missBurst).tokens < 1) throw tooManyRequests(1)
    },
    failedLookup(address) {
      take(addresses, network(address), missRate, missBurst)
    },
    visit(address) {
      take(visitors, network(address), visitRate, visitBurst)
    },
    // Apart from `visit`, so that test traffic locks out no payer behind the same address.
    visitSandbox(address) {
      take(testers, network(address), sandboxRate, sandboxBurst)
    },
    // A page of no payment. It is a miss too, but payers share their address with strangers: it shuts nobody out who
    // knows a payment.
    unknownToken(address) {
      take(strays, network(address), missRate, missBurst)
    },
    // A callback for an attempt or an account that does not exist, or a webhook with a wrong signature. The bucket is its
    // own, so that a flood locks out neither payers nor shops behind the same address.
    unknownCallback(address) {
      take(callbacks, network(address), missRate, missBurst)
    },
    hasUnknownCallbacksLeft: address => level(callbacks, network(address), missRate, missBurst).tokens >= 1,
    // Before a token is looked at: it has to wait while the address is out of wrong ones, also if it is the right one.
    tryToken(door, address) {
      const key = `${door} ${network(address)}`
      const { tokens } = level(guessers, key, wrongTokenRate, wrongTokenBurst)
      if (tokens < 1) throw tooManyRequests(Math.ceil((1 - tokens) / wrongTokenRate))
    },
    wrongToken(door, address) {
      take(guessers, `${door} ${network(address)}`, wrongTokenRate, wrongTokenBurst)
    },
  }
}

// One household or machine has a whole /64 of IPv6 to ask from.
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
