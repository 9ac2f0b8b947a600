import { expect, test } from 'vitest'
import {
  firstEstimate,
  jumpOf,
  type Measurement,
  type ClockEstimate,
  estimateClock,
  timeBy,
} from '../../src/core/databaseClock.ts'
import { hours, minutes, noon, seconds } from '../support/payments/rows.ts'

// A database whose clock is `shift` from noon at our moment 0, seen at a moment of ours.
const seen = (at: number, shift: number, roundTripMs = 2): Measurement => ({
  databaseMs: noon.getTime() + at + shift,
  monotonicMs: at,
  roundTripMs,
})
const atNoon = firstEstimate([seen(0, 0)])
const shiftOf = (reckoning: ClockEstimate, at = 0) => timeBy(reckoning, at).getTime() - at - noon.getTime()
const play = (measured: readonly Measurement[], from = atNoon) => measured.reduce(estimateClock, from)

test('at first the quickest of several is believed, whatever it says', () => {
  const first = firstEstimate([seen(0, seconds(3), 900), seen(1000, hours(1), 3), seen(2000, 7, 40)])
  expect([shiftOf(first), first.pendingJump]).toEqual([hours(1), undefined])
})

for (const [words, shift, roundTripMs, expected] of [
  ['within what the measurement does not know', 40, 100, 0],
  ['just beyond that', 51, 100, 51],
  ['a tenth of a second back', -100, 2, -100],
  ['ten seconds, and no more', seconds(10), 2, seconds(10)],
  ['ten seconds back', -seconds(10), 2, -seconds(10)],
  ['one that took too long', seconds(5), 2001, 0],
] as const)
  test(`a small difference, ${words}: by ${expected} ms at once`, () => {
    const after = play([seen(seconds(10), shift, roundTripMs)])
    expect([shiftOf(after), after.pendingJump]).toEqual([expected, undefined])
  })

for (const jump of [seconds(10) + 1, -seconds(11), hours(1), -hours(1), -minutes(6)]) {
  test(`a jump by ${jump} ms is not believed at once, but after a minute`, () => {
    let now = play([seen(seconds(10), jump)])
    for (let at = seconds(12); at < seconds(70); at += seconds(2)) {
      expect([shiftOf(now), jumpOf(now)]).toEqual([0, jump])
      now = estimateClock(now, seen(at, jump + (at % 3) * 100)) // it drifts a little
    }
    now = estimateClock(now, seen(seconds(70), jump))
    expect([shiftOf(now), now.pendingJump]).toEqual([jump, undefined])
  })

  test(`a lie by ${jump} ms that ends: the old time goes on at once, and another such lie waits its own minute`, () => {
    const lied = [seen(seconds(10), jump), seen(seconds(60), jump), seen(seconds(62), 0)]
    const after = play(lied)
    expect([shiftOf(after), after.pendingJump]).toEqual([0, undefined])
    expect(play([seen(seconds(72), jump)], after).pendingJump).toEqual({
      aheadMs: noon.getTime() + jump,
      sinceMs: seconds(72),
    })
  })
}

test('a clock that jumps about is never believed', () => {
  let now = atNoon
  for (let at = 0; at < minutes(10); at += seconds(2)) now = estimateClock(now, seen(at, hours(1) + 2 * at))
  expect([shiftOf(now), now.pendingJump?.sinceMs]).toEqual([0, minutes(10) - seconds(2)])
})

test('a machine that slept for an hour has its time back after a minute', () => {
  const slept = seen(seconds(20), hours(1)) // the monotonic clock stood still meanwhile
  const after = play([slept, seen(seconds(50), hours(1))])
  expect([shiftOf(after), jumpOf(after)]).toEqual([0, hours(1)])
  expect(shiftOf(play([seen(seconds(80), hours(1))], after))).toBe(hours(1))
})

test('answers that take too long prove nothing and disprove nothing', () => {
  const doubted = play([
    seen(seconds(10), hours(1)),
    seen(seconds(90), hours(1), 2001),
    seen(seconds(95), 0, 5000),
  ])
  expect([shiftOf(doubted), jumpOf(doubted)]).toEqual([0, hours(1)])
})

test('a slow but useful answer of the same time does not begin the minute anew', () => {
  const after = play([
    seen(seconds(10), hours(1)),
    seen(seconds(40), hours(1) + 1900, 1900),
    seen(seconds(70), hours(1)),
  ])
  expect([shiftOf(after), after.pendingJump]).toEqual([hours(1), undefined])
})
