import type { Verb } from '../../core/provider/circuitBreaker.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { type Bucket, fullBucket, refill } from '../../core/interface/tokenBucket.ts'

const burst = 1 // a provider that counts by the second sees at most one request above the rate

// Resolves when the request may be sent. Throws `NotSent` if that takes longer than `withinMs`, or at an abort.
export type WaitForTurn = (verb: Verb, withinMs: number, signal: AbortSignal) => Promise<void>

type Waiter = { go(): void }

// Limits the requests per second to one account. The rate is that of all nodes together, so each node takes an equal part.
// Orders go before status questions, because their customers wait.
export function createRateLimiter(
  perSecond: number,
  nodes: () => number,
  monotonicMs: () => number,
): WaitForTurn {
  const waiting: Record<Verb, Set<Waiter>> = { start: new Set(), ask: new Set() }
  let bucket: Bucket = fullBucket(burst, monotonicMs())
  let timer: NodeJS.Timeout | undefined

  const rate = () => perSecond / Math.max(1, nodes())
  const next = () => first(waiting.start) ?? first(waiting.ask)

  function serve() {
    timer = undefined
    bucket = refill(bucket, rate(), burst, monotonicMs())
    for (let waiter = next(); waiter && bucket.tokens >= 1; waiter = next()) {
      bucket = { ...bucket, tokens: bucket.tokens - 1 }
      waiter.go()
    }
    if (next()) timer = setTimeout(serve, Math.ceil(((1 - bucket.tokens) / rate()) * 1000) || 1)
  }

  return (verb, withinMs, signal) =>
    new Promise((resolve, reject) => {
      const remove = () => {
        waiting[verb].delete(waiter)
        clearTimeout(timeout)
        signal.removeEventListener('abort', giveUp)
      }
      const giveUp = () => {
        remove()
        reject(new NotSent('The rate limit of the provider left no room for the request in time.'))
      }
      const waiter: Waiter = { go: () => (remove(), resolve()) }
      const timeout = setTimeout(giveUp, withinMs)
      signal.addEventListener('abort', giveUp)
      waiting[verb].add(waiter)
      if (timer === undefined) serve()
    })
}

const first = <T>(all: ReadonlySet<T>): T | undefined => all.values().next().value
