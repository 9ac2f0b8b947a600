import { expect, test } from 'vitest'
import {
  type Breaker,
  recordCall,
  newBreaker,
  type CallOutcome,
  pauseBreaker,
  circuitStateOf,
  type Verb,
  whyBlocked,
} from '../../../src/core/provider/circuitBreaker.ts'
import { healthByBreaker, healthWindowMs } from '../../../src/core/provider/health.ts'

// [time, verb, order, outcome]
type Step = readonly [number, Verb, string, CallOutcome]
const after = (steps: readonly Step[], from = newBreaker): Breaker =>
  steps.reduce(
    (breaker, [at, verb, order, outcome]) => recordCall(breaker, { verb, order, outcome }, at),
    from,
  )
const failing = (verb: Verb, count: number, at = 0): Step[] =>
  Array.from({ length: count }, (_, n) => [at, verb, `order ${n}`, 'unanswered'])
const opened = after(failing('start', 5)) // until 5000

for (const [name, breaker, at, state] of [
  ['nothing has happened', newBreaker, 0, 'closed'],
  ['four orders without an answer', after(failing('start', 4)), 0, 'closed'],
  ['five in a row', opened, 0, 'open'],
  [
    'five, with an answer between',
    after([...failing('start', 4), [0, 'start', 'x', 'answered'], ...failing('start', 4)]),
    0,
    'closed',
  ],
  ['questions about five orders', after(failing('ask', 5)), 0, 'open'],
  [
    'repeated questions about one order',
    after(Array.from({ length: 50 }, () => [0, 'ask', 'poison', 'unanswered'])),
    0,
    'closed',
  ],
  [
    'answered questions between unanswered orders',
    after([...failing('start', 4), [0, 'ask', 'x', 'answered'], [0, 'start', 'y', 'unanswered']]),
    0,
    'open',
  ],
  ['the pause is over', opened, 5000, 'probing'],
  ['a probe was answered', after([[5000, 'start', 'p', 'answered']], opened), 5000, 'closed'],
  ['a probe was not answered', after([[5000, 'start', 'p', 'unanswered']], opened), 14_999, 'open'],
  [
    'the pause after an unanswered probe is over',
    after([[5000, 'start', 'p', 'unanswered']], opened),
    15_000,
    'probing',
  ],
  [
    'orders sent before it opened are not answered',
    after(failing('start', 3, 4000), opened),
    5000,
    'probing',
  ],
  [
    'an order sent before it opened is answered',
    after([[100, 'start', 'x', 'answered']], opened),
    100,
    'closed',
  ],
  [
    'orders failed, and a question is answered as before',
    after([[1000, 'ask', 'x', 'answered']], opened),
    1000,
    'open',
  ],
  [
    'orders and a question failed, then a question is answered',
    after(
      [
        [1000, 'ask', 'x', 'unanswered'],
        [2000, 'ask', 'x', 'answered'],
      ],
      opened,
    ),
    2000,
    'probing',
  ],
  [
    'only questions failed, then a question is answered',
    after([[1000, 'ask', 'x', 'answered']], after(failing('ask', 5))),
    1000,
    'closed',
  ],
] as [string, Breaker, number, string][])
  test(`${name}: ${state}`, () => expect(circuitStateOf(breaker, at)).toBe(state))

test('the pause grows to a minute', () => {
  const pauses: number[] = []
  let [breaker, now] = [opened, 0]
  for (let n = 0; n < 7; n++) {
    pauses.push((breaker.openUntil ?? 0) - now)
    now = breaker.openUntil ?? 0
    breaker = after([[now, 'start', 'p', 'unanswered']], breaker)
  }
  expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
})

for (const [name, breaker, at, start, ask] of [
  ['closed', newBreaker, 0, true, true],
  ['open', opened, 4999, false, true],
  ['probing', opened, 5000, true, true],
  ['probing, with a probe under way', { ...opened, probes: 1 }, 5000, false, true],
  ['paused', pauseBreaker(newBreaker, 3000, 0), 2999, false, false],
  ['the requested pause is over', pauseBreaker(newBreaker, 3000, 0), 3000, true, true],
  ['a requested pause of ten milliseconds', pauseBreaker(newBreaker, 10, 0), 999, false, false],
  ['that pause after a second', pauseBreaker(newBreaker, 10, 0), 1000, true, true],
  [
    'a requested pause of a day, after five minutes',
    pauseBreaker(newBreaker, 86_400_000, 0),
    300_000,
    true,
    true,
  ],
  [
    'a shorter pause is requested during a longer one',
    pauseBreaker(pauseBreaker(newBreaker, 9000, 0), 1000, 0),
    8999,
    false,
    false,
  ],
] as [string, Breaker, number, boolean, boolean][])
  test(`${name}: orders are ${start ? 'sent' : 'blocked'}, questions are ${ask ? 'sent' : 'blocked'}`, () => {
    expect(
      [whyBlocked(breaker, 'start', at), whyBlocked(breaker, 'ask', at)].map(why => why === undefined),
    ).toEqual([start, ask])
  })

for (const [name, breaker, at, health] of [
  ['closed', newBreaker, 0, 'healthy'],
  ['open', opened, 0, 'down'],
  ['probing', opened, 5000, 'down'],
  ['probing for a whole window without a probe', opened, 200_000, 'healthy'],
  [
    'probing, a whole window after the last failure',
    { ...opened, openUntil: 60_000 },
    healthWindowMs,
    'healthy',
  ],
  ['probing for a whole window, with a probe under way', { ...opened, probes: 1 }, 200_000, 'down'],
  ['paused for two seconds', pauseBreaker(newBreaker, 2000, 0), 0, 'healthy'],
  ['paused for half a minute', pauseBreaker(newBreaker, 30_000, 0), 0, 'degraded'],
  ['paused for five minutes', pauseBreaker(newBreaker, 600_000, 0), 0, 'down'],
] as [string, Breaker, number, string][])
  test(`${name} is ${health}`, () => expect(healthByBreaker(breaker, at)).toBe(health))
