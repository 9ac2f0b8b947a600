import { expect, test } from 'vitest'
import {
  type Breaker,
  recordOutcome,
  newBreaker,
  type CallOutcome,
  pauseBreaker,
  circuitStateOf,
  type Verb,
  whyBlocked,
} from '../../../src/core/provider/circuitBreaker.ts'
import { healthByBreaker } from '../../../src/core/provider/health.ts'

// What happens, when: [at, verb, order, outcome].
type Step = readonly [number, Verb, string, CallOutcome]
const after = (steps: readonly Step[], from = newBreaker): Breaker =>
  steps.reduce(
    (breaker, [at, verb, order, outcome]) => recordOutcome(breaker, { verb, order }, outcome, at),
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
    'one order that is asked about again and again',
    after(Array.from({ length: 50 }, () => [0, 'ask', 'poison', 'unanswered'])),
    0,
    'closed',
  ],
  [
    'answers to questions do not hide that no order is answered',
    after([...failing('start', 4), [0, 'ask', 'x', 'answered'], [0, 'start', 'y', 'unanswered']]),
    0,
    'open',
  ],
  ['the pause is over', opened, 5000, 'probing'],
  ['one went to see and was answered', after([[5000, 'start', 'p', 'answered']], opened), 5000, 'closed'],
  ['one went to see in vain', after([[5000, 'start', 'p', 'unanswered']], opened), 14_999, 'open'],
  ['and its pause is over', after([[5000, 'start', 'p', 'unanswered']], opened), 15_000, 'probing'],
  ['what was on its way says nothing new', after(failing('start', 3, 4000), opened), 5000, 'probing'],
  ['an answer to what was on its way', after([[100, 'start', 'x', 'answered']], opened), 100, 'closed'],
  ['questions were answered all along', after([[1000, 'ask', 'x', 'answered']], opened), 1000, 'open'],
  [
    'a question failed too, then one is answered',
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
    'only questions failed, then one is answered',
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
  ['probing, one is on its way', { ...opened, probes: 1 }, 5000, false, true],
  ['resting', pauseBreaker(newBreaker, 3000, 0), 2999, false, false],
  ['rested', pauseBreaker(newBreaker, 3000, 0), 3000, true, true],
  ['a rest of a day', pauseBreaker(newBreaker, 86_400_000, 0), 300_000, true, true],
  [
    'a rest that is shorter than the one before',
    pauseBreaker(pauseBreaker(newBreaker, 9000, 0), 1000, 0),
    8999,
    false,
    false,
  ],
] as [string, Breaker, number, boolean, boolean][])
  test(`${name}: orders ${start ? 'leave' : 'wait'}, questions ${ask ? 'leave' : 'wait'}`, () => {
    expect(
      [whyBlocked(breaker, 'start', at), whyBlocked(breaker, 'ask', at)].map(why => why === undefined),
    ).toEqual([start, ask])
  })

for (const [name, breaker, at, standing] of [
  ['closed', newBreaker, 0, 'healthy'],
  ['open', opened, 0, 'down'],
  ['probing', opened, 5000, 'down'],
  ['probing, and nobody has tried for long', opened, 200_000, 'healthy'],
  ['probing, and somebody tries at last', { ...opened, probes: 1 }, 200_000, 'down'],
  ['resting for a moment', pauseBreaker(newBreaker, 2000, 0), 0, 'healthy'],
  ['resting', pauseBreaker(newBreaker, 30_000, 0), 0, 'degraded'],
  ['resting for long', pauseBreaker(newBreaker, 600_000, 0), 0, 'down'],
] as [string, Breaker, number, string][])
  test(`${name} is ${standing}`, () => expect(healthByBreaker(breaker, at)).toBe(standing))
