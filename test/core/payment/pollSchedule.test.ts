import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resendForMs } from '../../../src/core/payment/attempt.ts'
import {
  defaultFirstPollMs,
  firstPollAfter,
  furthestPollMs,
  nextPoll,
  pollGap,
} from '../../../src/core/payment/pollSchedule.ts'
import { after, anAttempt, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const unresolved = ['started', 'pending', 'needs_input', 'unknown', 'disputed'] as const

for (const state of unresolved)
  test(`an attempt that is ${state} is asked about for ever`, () => {
    fc.assert(
      fc.property(fc.nat(100_000), asks => {
        const next = nextPoll(anAttempt({ state, polls: asks }), noon) as Date
        expect(next.getTime() - noon.getTime()).toBeGreaterThanOrEqual(seconds(1))
        expect(next.getTime() - noon.getTime()).toBeLessThanOrEqual(minutes(15))
      }),
    )
  })

test('the gaps never shrink', () => {
  for (let asks = 1; asks < 100; asks++) expect(pollGap(asks)).toBeGreaterThanOrEqual(pollGap(asks - 1))
})

test('in the first minute a customer waits for at most 15 seconds, and the provider is asked at most 15 times', () => {
  let asks = 0
  for (let ms = 0; ms < minutes(1); ms += pollGap(asks++))
    expect(pollGap(asks)).toBeLessThanOrEqual(seconds(15))
  expect(asks).toBeLessThanOrEqual(15)
})

test('what was sent is asked about right when it is over, and often until its provider says so', () => {
  const endsAt = after(minutes(5))
  const waits = anAttempt({ state: 'pending', polls: 17 }) // the next in two minutes
  const next = (ms: number) => nextPoll(waits, after(ms), { endsAt })
  expect(next(minutes(1))).toEqual(after(minutes(3)))
  expect(next(minutes(4))).toEqual(after(minutes(5) + seconds(1)))
  expect(next(minutes(5) + seconds(1))).toEqual(after(minutes(5) + seconds(6)))
  expect(next(minutes(7))).toEqual(after(minutes(9)))
  expect(nextPoll(anAttempt({ polls: 0 }), noon, { endsAt })).toEqual(after(seconds(1)))
})

test('one that was given up is asked about often again, and less often the longer it takes', () => {
  const given = anAttempt({ state: 'pending', polls: 17, gave_up_at: noon, gave_up_for: 'method' })
  for (const [ms, gap] of [
    [0, seconds(2)],
    [seconds(8), seconds(2)],
    [seconds(40), seconds(10)],
    [minutes(4), minutes(1)],
    [hours(4), minutes(2)],
  ] as const)
    expect(nextPoll(given, after(ms))).toEqual(after(ms + gap))
})

test('a paid attempt is not asked about', () => {
  expect(nextPoll(anAttempt({ state: 'paid' }), after(hours(1)))).toBeNull()
})

for (const [heard, next] of [
  [0, seconds(20)],
  [seconds(19), seconds(20)],
  [seconds(20), minutes(2)],
  [minutes(2), minutes(15)],
  [minutes(15), hours(2)],
  [hours(2) - 1, hours(2)],
  [hours(2), null],
  [hours(200), null],
] as const) {
  test(`a no is asked about again: heard after ${heard / 1000} s, next after ${next === null ? 'never' : next / 1000}`, () => {
    const asked = nextPoll(anAttempt({ state: 'failed' }), after(heard))
    expect(asked).toEqual(next === null ? null : after(next))
  })
}

test('who died while starting an order is found in time to send it again', () => {
  expect(defaultFirstPollMs).toBeLessThan(resendForMs)
})

for (const [pace, ms] of [
  [undefined, seconds(8)],
  [{}, seconds(8)],
  [{ startTimeoutMs: 2000 }, seconds(8)],
  [{ startTimeoutMs: 30_000 }, seconds(33)],
] as const)
  test(`who starts with ${JSON.stringify(pace)} is waited for ${ms / 1000} s`, () => {
    expect(firstPollAfter(pace)).toBe(ms)
  })

for (const [what, pace, gaps] of [
  ['usual', {}, [seconds(1), seconds(1), seconds(2)]],
  ['a first look later', { firstPollMs: 10_000 }, [seconds(10), seconds(1), seconds(2)]],
  [
    'a first look sooner than its gap',
    { firstPollMs: 1, pollGapsMs: [5000] },
    [seconds(5), seconds(5), seconds(5)],
  ],
  [
    'gaps of its own, the last of which stays',
    { pollGapsMs: [3000, 20_000] },
    [seconds(3), seconds(20), seconds(20)],
  ],
  ['no gaps at all', { pollGapsMs: [] }, [minutes(15), minutes(15), minutes(15)]],
  ['gaps that nobody waits for', { pollGapsMs: [hours(5)] }, [minutes(15), minutes(15), minutes(15)]],
] as const)
  test(`the pace of a provider: ${what}`, () => {
    expect([0, 1, 2].map(asks => pollGap(asks, pace))).toEqual(gaps)
  })

// Heard so long after the end: asked about next so long after it.
for (const [what, failureMayReverseForMs, asked] of [
  ['stays', 0, [[0, null]]],
  [
    'may turn for half an hour',
    minutes(30),
    [
      [0, seconds(20)],
      [minutes(15), minutes(30)],
      [minutes(30) - 1, minutes(30)],
      [minutes(30), null],
    ],
  ],
  [
    'may turn for a day',
    hours(24),
    [
      [minutes(15), hours(2)],
      [hours(2), hours(4)],
      [hours(23), hours(24)],
      [hours(24), null],
    ],
  ],
] as const)
  for (const [heard, next] of asked)
    test(`a no that ${what}, heard after ${heard / 1000} s: ${next === null ? 'never again' : next / 1000}`, () => {
      const ended = anAttempt({ state: 'failed' })
      expect(nextPoll(ended, after(heard), { failureMayReverseForMs })).toEqual(
        next === null ? null : after(next),
      )
    })

test('a no that was asked about before it could not turn any more is asked about once more, however late it is heard', () => {
  const ended = anAttempt({ state: 'failed' })
  const terms = { failureMayReverseForMs: minutes(30), askedAt: after(minutes(29)) }
  expect(nextPoll(ended, after(minutes(40)), terms)).toEqual(after(minutes(30)))
  expect(nextPoll(ended, after(minutes(40)), { ...terms, askedAt: after(minutes(30)) })).toBeNull()
  expect(nextPoll(ended, noon, { failureMayReverseForMs: 0, askedAt: after(-seconds(5)) })).toBeNull()
})

test('no pace puts an ask off further than a clock that was set back can be told from', () => {
  fc.assert(
    fc.property(
      fc.nat(100),
      fc.record({ firstPollMs: fc.nat(), pollGapsMs: fc.array(fc.nat()) }, { requiredKeys: [] }),
      (asks, pace) => {
        const next = nextPoll(anAttempt({ polls: asks }), noon, { timing: pace }) as Date
        expect(next.getTime() - noon.getTime()).toBeLessThan(furthestPollMs.unresolved)
      },
    ),
  )
})

test('who has typed at a step waits for what comes of it: asked about often again', () => {
  const typed = anAttempt({ state: 'pending', polls: 17, submitted_at: noon })
  for (const [ms, gap] of [
    [0, seconds(2)],
    [seconds(40), seconds(10)],
    [hours(4), minutes(2)],
  ] as const)
    expect(nextPoll(typed, after(ms))).toEqual(after(ms + gap))
})
