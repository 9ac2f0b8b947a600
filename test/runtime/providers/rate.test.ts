import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Verb } from '../../../src/core/provider/circuitBreaker.ts'
import { NotSent } from '../../../src/core/provider/reply.ts'
import { createRateLimiter, type WaitForTurn } from '../../../src/runtime/providers/rateLimiter.ts'

// Time is fake: only `passes` advances it.
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const neverAborted = () => new AbortController().signal
const limiterOf = (perSecond: number, nodes = 1) =>
  createRateLimiter(
    { callsPerSecond: perSecond },
    () => nodes,
    () => performance.now(),
  )

function queue(turn: WaitForTurn, verbs: readonly Verb[], withinMs = 60_000) {
  const sent: string[] = []
  const all = verbs.map((verb, at) =>
    turn(verb, withinMs, neverAborted()).then(() => sent.push(`${verb} ${at}`)),
  )
  return { sent, all }
}
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('the first request is sent immediately, the others at even intervals', async () => {
  const { sent } = queue(limiterOf(4), ['start', 'start', 'start'])
  await passes(0)
  expect(sent).toHaveLength(1)
  await passes(250)
  expect(sent).toHaveLength(2)
  await passes(250)
  expect(sent).toHaveLength(3)
})

test('orders are sent before questions', async () => {
  const { sent } = queue(limiterOf(1), ['ask', 'ask', 'start', 'ask', 'start'])
  await passes(10_000)
  expect(sent).toEqual(['ask 0', 'start 2', 'start 4', 'ask 1', 'ask 3'])
})

for (const [nodes, inTenSeconds] of [
  [1, 41],
  [2, 21],
  [4, 11],
] as const)
  test(`each of ${nodes} nodes takes an equal part of the rate`, async () => {
    const { sent } = queue(limiterOf(4, nodes), Array<Verb>(100).fill('ask'))
    await passes(10_000)
    expect(sent).toHaveLength(inTenSeconds)
  })

test('a request that would wait too long is not sent, and takes no turn', async () => {
  const turn = limiterOf(1)
  const { sent, all } = queue(turn, ['start', 'start', 'start', 'start'], 2500)
  const last = expect(all[3]).rejects.toBeInstanceOf(NotSent)
  await passes(2500)
  await last
  expect(sent).toHaveLength(3)
  const { sent: next } = queue(turn, ['start'])
  await passes(1000)
  expect(next).toHaveLength(1)
})

test('an aborted request stops waiting', async () => {
  const turn = limiterOf(1)
  queue(turn, ['ask'])
  const waiting = new AbortController()
  const aborted = expect(turn('ask', 60_000, waiting.signal)).rejects.toBeInstanceOf(NotSent)
  waiting.abort()
  await aborted
})
