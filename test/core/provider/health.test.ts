import { expect, test } from 'vitest'
import {
  sumCounts,
  delayQuantile,
  countedOutcome,
  healthOf,
  noCalls,
  type CallWindow,
  addToWindow,
  answeredCall,
  type CallCounts,
  countsOf,
  healthWindowMs,
} from '../../../src/core/provider/health.ts'

for (const [counts, health] of [
  [{}, 'healthy'], // no calls
  [{ unanswered: 4 }, 'healthy'], // too few to judge
  [{ unanswered: 5 }, 'down'],
  [{ answered: 2, unanswered: 3 }, 'down'],
  [{ answered: 3, unanswered: 2 }, 'degraded'],
  [{ answered: 9, unanswered: 1 }, 'healthy'],
  [{ answered: 8, late: 2 }, 'degraded'],
  [{ answered: 100, late: 10, unanswered: 5 }, 'healthy'],
  [{ answered: 20, declined: 20 }, 'healthy'], // a decline is a success of the account
  [{ answered: 20, paid: 5, declined: 5, troubled: 2 }, 'healthy'],
  [{ answered: 20, paid: 6, declined: 1, troubled: 3 }, 'degraded'],
  [{ answered: 20, declined: 2, troubled: 2 }, 'down'],
  [{ answered: 20, troubled: 3 }, 'healthy'], // too few
] as [Partial<CallCounts>, string][])
  test(`${JSON.stringify(counts)} is ${health}`, () =>
    expect(healthOf({ ...noCalls, ...counts })).toBe(health))

const answered = (delayMs: number) => answeredCall(delayMs, false)
const after = (...events: (readonly [Partial<CallCounts>, number])[]) =>
  events.reduce<CallWindow>((window, [counts, at]) => addToWindow(window, counts, at), [])

test('calls older than the window are not counted', () => {
  const window = after([{ unanswered: 1 }, 0], [answered(10), 60_000])
  expect(countsOf(window, 60_000)).toMatchObject({ unanswered: 1, answered: 1 })
  expect(countsOf(window, healthWindowMs + 10_000)).toMatchObject({ unanswered: 0, answered: 1 })
  expect(countsOf(window, healthWindowMs + 70_000)).toEqual(noCalls)
})

test('a window has a bounded number of slices', () => {
  let window: CallWindow = []
  for (let at = 0; at < 100 * healthWindowMs; at += 1000) window = addToWindow(window, answered(1), at)
  expect(window.length).toBeLessThanOrEqual(healthWindowMs / 10_000 + 1)
})

test('quantiles of the delays are the upper bounds of their buckets', () => {
  const delays = [20, 20, 20, 20, 20, 80, 80, 80, 80, 40_000]
  const tally = countsOf(after(...delays.map(ms => [answered(ms), 0] as const)), 0)
  expect([0.5, 0.9, 0.95].map(share => delayQuantile(tally, share))).toEqual([50, 100, 30_000])
  expect(delayQuantile(noCalls, 0.5)).toBeNull()
})

test('counts of nodes are summed', () => {
  const one = countsOf(after([answered(20), 0]), 0)
  const other = { ...noCalls, unanswered: 3 }
  expect(sumCounts([one, other])).toEqual({ ...one, unanswered: 3 })
})

for (const [state, reason, ending] of [
  ['paid', null, 'paid'],
  ['failed', 'declined', 'declined'],
  ['failed', 'insufficient_funds', 'declined'],
  ['failed', 'no_answer', 'declined'],
  ['failed', 'account_trouble', 'troubled'],
  ['failed', 'network_error', 'troubled'],
  ['failed', 'not_sent', undefined],
  ['failed', 'refused', undefined], // an unknown reason says nothing about the account
  ['pending', null, undefined],
] as const)
  test(`${state} (${reason}) counts as ${ending}`, () =>
    expect(countedOutcome(state, reason ?? '')).toBe(ending))
