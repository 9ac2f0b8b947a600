import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstPollMs, nextPoll, pollGap, resendForMs } from '../../../src/core/payment/pollSchedule.ts'
import { after, anAttempt, hours, minutes, noon, seconds } from '../../support/lifeRows.ts'

const unresolved = ['started', 'pending', 'unknown', 'disputed'] as const

for (const state of unresolved)
  test(`an attempt that is ${state} is asked about for ever`, () => {
    fc.assert(
      fc.property(fc.nat(100_000), asks => {
        const next = nextPoll(anAttempt({ state, asks }), noon) as Date
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
  const waits = anAttempt({ state: 'pending', asks: 17 }) // the next in two minutes
  const next = (ms: number) => nextPoll(waits, after(ms), { endsAt })
  expect(next(minutes(1))).toEqual(after(minutes(3)))
  expect(next(minutes(4))).toEqual(after(minutes(5) + seconds(1)))
  expect(next(minutes(5) + seconds(1))).toEqual(after(minutes(5) + seconds(6)))
  expect(next(minutes(7))).toEqual(after(minutes(9)))
  expect(nextPoll(anAttempt({ asks: 0 }), noon, { endsAt })).toEqual(after(seconds(1)))
})

test('one that was given up is asked about often again, and less often the longer it takes', () => {
  const given = anAttempt({ state: 'pending', asks: 17, gave_up_at: noon, gave_up_for: 'way' })
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
  expect(firstPollMs).toBeLessThan(resendForMs)
})
