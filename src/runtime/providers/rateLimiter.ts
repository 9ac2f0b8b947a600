import type { Verb } from '../../core/provider/breaker.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { type Bucket, fullBucket, refill } from '../../core/interface/tokenBucket.ts'

const burst = 1 // evenly: a provider that counts by the second sees one more than the rate at most

// Waits until something may leave. It throws `NotSent` where that is not in time, or nobody waits any more.
export type WaitForTurn = (verb: Verb, withinMs: number, signal: AbortSignal) => Promise<void>

type Waiting = { go(): void }

// So many calls a second may leave for an account, from all nodes together: each takes its share by how many there are.
// Orders, whose customers wait, go before questions.
export function createRateLimiter(
  perSecond: number,
  nodes: () => number,
  monotonicMs: () => number,
): WaitForTurn {
  const waiting: Record<Verb, Set<Waiting>> = { start: new Set(), ask: new Set() }
  let bucket: Bucket = fullBucket(burst, monotonicMs())
  let timer: NodeJS.Timeout | undefined

  const rate = () => perSecond / Math.max(1, nodes())
  const next = () => first(waiting.start) ?? first(waiting.ask)

  function serve() {
    timer = undefined
    bucket = refill(bucket, rate(), burst, monotonicMs())
    for (let one = next(); one && bucket.tokens >= 1; one = next()) {
      bucket = { ...bucket, tokens: bucket.tokens - 1 }
      one.go()
    }
    if (next()) timer = setTimeout(serve, Math.ceil(((1 - bucket.tokens) / rate()) * 1000) || 1)
  }

  return (verb, withinMs, signal) =>
    new Promise((resolve, reject) => {
      const leave = () => {
        waiting[verb].delete(one)
        clearTimeout(late)
        signal.removeEventListener('abort', giveUp)
      }
      const giveUp = () => {
        leave()
        reject(
          new NotSent('The provider takes so many requests a second, and its turn did not come in time.'),
        )
      }
      const one: Waiting = { go: () => (leave(), resolve()) }
      const late = setTimeout(giveUp, withinMs)
      signal.addEventListener('abort', giveUp)
      waiting[verb].add(one)
      if (timer === undefined) serve()
    })
}

const first = <T>(all: ReadonlySet<T>): T | undefined => all.values().next().value
