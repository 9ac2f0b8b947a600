import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Verb } from '../../../src/core/provider/circuitBreaker.ts'
import { NotSent } from '../../../src/core/provider/reply.ts'
import { createRateLimiter, type WaitForTurn } from '../../../src/runtime/providers/rateLimiter.ts'

// Time stands still until the test moves it.
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const anyLong = () => new AbortController().signal
const turnsOf = (perSecond: number, nodes = 1) =>
  createRateLimiter(
    { callsPerSecond: perSecond },
    () => nodes,
    () => performance.now(),
  )

function queue(turn: WaitForTurn, verbs: readonly Verb[], withinMs = 60_000) {
  const left: string[] = []
  const all = verbs.map((verb, at) => turn(verb, withinMs, anyLong()).then(() => left.push(`${verb} ${at}`)))
  return { left, all }
}
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('one leaves at once, the others evenly after it', async () => {
  const { left } = queue(turnsOf(4), ['start', 'start', 'start'])
  await passes(0)
  expect(left).toHaveLength(1)
  await passes(250)
  expect(left).toHaveLength(2)
  await passes(250)
  expect(left).toHaveLength(3)
})

test('orders, whose customers wait, go before questions', async () => {
  const { left } = queue(turnsOf(1), ['ask', 'ask', 'start', 'ask', 'start'])
  await passes(10_000)
  expect(left).toEqual(['ask 0', 'start 2', 'start 4', 'ask 1', 'ask 3'])
})

for (const [nodes, inTenSeconds] of [
  [1, 41],
  [2, 21],
  [4, 11],
] as const)
  test(`each of ${nodes} nodes takes its share`, async () => {
    const { left } = queue(turnsOf(4, nodes), Array<Verb>(100).fill('ask'))
    await passes(10_000)
    expect(left).toHaveLength(inTenSeconds)
  })

test('whose turn does not come in time is not sent, and takes no turn', async () => {
  const turn = turnsOf(1)
  const { left, all } = queue(turn, ['start', 'start', 'start', 'start'], 2500)
  const last = expect(all[3]).rejects.toBeInstanceOf(NotSent)
  await passes(2500)
  await last
  expect(left).toHaveLength(3)
  const { left: next } = queue(turn, ['start'])
  await passes(1000)
  expect(next).toHaveLength(1)
})

test('whoever does not wait any more goes', async () => {
  const turn = turnsOf(1)
  queue(turn, ['ask'])
  const waiting = new AbortController()
  const gone = expect(turn('ask', 60_000, waiting.signal)).rejects.toBeInstanceOf(NotSent)
  waiting.abort()
  await gone
})
