import type { Verb } from '../../core/provider/circuitBreaker.ts'
import type { ProviderTiming } from '../../core/provider/provider.ts'
import { NotSent } from '../../core/provider/reply.ts'

// Resolves when the request may be sent. Throws `NotSent` if that takes longer than `withinMs`, or at an abort.
export type WaitForTurn = (verb: Verb, withinMs: number, signal: AbortSignal) => Promise<void>

// Limits the requests per second to one account. The rate is that of all nodes together, so each node takes an equal part.
// Requests are sent at even intervals, and orders before status questions, because their customers wait. If only
// questions are limited, orders do not wait.
export function createRateLimiter(
  { callsPerSecond, pollsPerSecond }: ProviderTiming,
  nodes: () => number,
  monotonicMs: () => number,
): WaitForTurn {
  const perSecond = { start: callsPerSecond, ask: callsPerSecond ?? pollsPerSecond }
  const waiting: Record<Verb, Set<() => void>> = { start: new Set(), ask: new Set() }
  let nextAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  const next = () => (waiting.start.size > 0 ? waiting.start : waiting.ask).values().next().value

  function serve() {
    timer = undefined
    const now = monotonicMs()
    if (now >= nextAt && next()) {
      nextAt = now + (1000 * Math.max(1, nodes())) / Number(perSecond.ask)
      next()?.()
    }
    if (next()) timer = setTimeout(serve, Math.ceil(nextAt - now))
  }

  return async (verb, withinMs, signal) => {
    if (!perSecond[verb]) return
    await new Promise<void>((resolve, reject) => {
      const endWith = (end: () => void) => () => {
        waiting[verb].delete(send)
        clearTimeout(timeout)
        signal.removeEventListener('abort', giveUp)
        end()
      }
      const send = endWith(resolve)
      const giveUp = endWith(() =>
        reject(new NotSent('The rate limit of the provider left no room for the request in time.')),
      )
      const timeout = setTimeout(giveUp, withinMs)
      signal.addEventListener('abort', giveUp)
      waiting[verb].add(send)
      if (timer === undefined) serve()
    })
  }
}
