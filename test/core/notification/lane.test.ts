import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTrouble, type Result, results } from '../../../src/core/notification/delivery.ts'
import {
  breakerOf,
  isIdle,
  type Lane,
  afterTry,
  mostInLane,
  newLane,
  roomIn,
} from '../../../src/core/notification/lane.ts'
import { minutes, seconds } from '../../support/payments/rows.ts'

const troubles = [
  ...(['busy', 'server_error', 'bad_answer', 'timeout', 'no_connection', 'tls', 'name_not_found'] as const),
  'forbidden_address',
] as const

// One try that starts when the lane has room and ends at once.
function tryOne(lane: Lane, result: Result, now: number): Lane {
  expect(roomIn(lane, now)).toBeGreaterThan(0)
  return afterTry({ ...lane, inFlight: lane.inFlight + 1 }, result, now, now)
}
const tryAll = (all: readonly Result[], now = 0) =>
  all.reduce((lane, result) => tryOne(lane, result, now), newLane())

for (const result of results) {
  const trouble = (troubles as readonly Result[]).includes(result)
  test(`${result} ${trouble ? 'is' : 'is not'} trouble: five in a row ${trouble ? 'open' : 'do not open'} the breaker`, () => {
    expect(isTrouble(result)).toBe(trouble)
    const four = tryAll([result, result, result, result])
    expect(breakerOf(four, 0)).toBe('closed')
    expect(breakerOf(tryOne(four, result, 0), 0)).toBe(trouble ? 'open' : 'closed')
  })
}

for (const between of ['acknowledged', 'other_2xx', 'redirect', 'refused'] as const)
  test(`${between} after four failures: the count starts again`, () => {
    const four = ['timeout', 'server_error', 'busy', 'tls'] as const
    const lane = tryAll([...four, between, ...four])
    expect(breakerOf(lane, 0)).toBe('closed')
    expect(breakerOf(tryOne(lane, 'timeout', 0), 0)).toBe('open')
  })

test('if the clock is set back by an hour, an open breaker does not stay open for that hour, and still probes', () => {
  const lane = tryAll(Array.from({ length: 5 }, () => 'timeout' as const))
  const now = -minutes(60)
  expect([breakerOf(lane, 0), breakerOf(lane, now), roomIn(lane, now)]).toEqual(['open', 'probing', 1])
  const again = tryOne(lane, 'timeout', now)
  expect([breakerOf(again, now), breakerOf(again, now + seconds(60))]).toEqual(['open', 'probing'])
})

test('an open breaker allows one try after 30 s, and then after longer pauses of up to ten minutes', () => {
  let lane = tryAll(Array.from({ length: 5 }, () => 'timeout' as const))
  let now = 0
  for (const pause of [30, 60, 120, 240, 480, 600, 600, 600].map(seconds)) {
    expect([roomIn(lane, now), roomIn(lane, now + pause - 1)]).toEqual([0, 0])
    now += pause
    expect([breakerOf(lane, now), roomIn(lane, now)]).toEqual(['probing', 1])
    expect(roomIn({ ...lane, inFlight: 1 }, now)).toBe(0)
    lane = tryOne(lane, 'no_connection', now)
  }
})

for (const answer of ['acknowledged', 'refused'] as const)
  test(`a lane whose probe is ${answer} recovers by 1, 2, 4, 8, and the next pause is short again`, () => {
    let lane = tryAll(Array.from({ length: 5 }, () => 'timeout' as const))
    lane = tryOne(lane, 'timeout', seconds(30))
    const allowed: number[] = []
    for (let tries = 0; tries < 5; tries++) {
      allowed.push(roomIn(lane, minutes(5)))
      lane = tryOne(lane, answer, minutes(5))
    }
    expect(allowed).toEqual([1, 2, 4, 8, 8])
    for (let tries = 0; tries < 5; tries++) lane = tryOne(lane, 'timeout', minutes(5))
    expect(lane.openUntil).toBe(minutes(5) + seconds(30))
  })

test('a lane starts with one try at a time, and returns to one after any failure', () => {
  expect(roomIn(newLane(), 0)).toBe(1)
  expect(roomIn(tryAll(['acknowledged', 'acknowledged', 'acknowledged', 'timeout']), 0)).toBe(1)
})

test('a try that was in flight when the breaker opened does not extend the pause', () => {
  let lane: Lane = { ...tryAll(Array.from({ length: 4 }, () => 'acknowledged' as const)), inFlight: 8 }
  for (let tries = 0; tries < 5; tries++) lane = afterTry(lane, 'timeout', 0, seconds(10))
  const { openUntil, pauseMs } = lane
  expect(openUntil).toBe(seconds(40))
  for (let tries = 0; tries < 3; tries++) lane = afterTry(lane, 'timeout', seconds(9), seconds(20))
  lane = afterTry({ ...lane, inFlight: 1 }, 'timeout', seconds(39), seconds(49)) // a try that had to be made anyway
  expect(lane).toMatchObject({ openUntil, pauseMs, inFlight: 0 })
})

test('with any results in any order: slots are counted exactly and the pauses stay in their limits', () => {
  const step = fc.record({
    result: fc.constantFrom(...results),
    wait: fc.oneof(fc.nat(1000), fc.nat(minutes(11))),
    start: fc.nat(10),
    end: fc.nat(10),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      let lane = newLane()
      let now = 0
      const started: number[] = []
      for (const { result, wait, start, end } of steps) {
        now += wait
        for (let more = Math.min(start, roomIn(lane, now)); more > 0; more--) {
          lane = { ...lane, inFlight: lane.inFlight + 1 }
          started.push(now)
        }
        for (const at of started.splice(0, end)) lane = afterTry(lane, result, at, now)
        expect(lane.inFlight).toBe(started.length)
        expect(lane.allowed).toBeGreaterThanOrEqual(1)
        expect(lane.inFlight + roomIn(lane, now)).toBeLessThanOrEqual(mostInLane)
        if (lane.openUntil !== null) expect(lane.openUntil - now).toBeLessThanOrEqual(minutes(10))
        expect(lane.pauseMs).toBeGreaterThanOrEqual(seconds(30))
        if (breakerOf(lane, now) === 'open') expect(roomIn(lane, now)).toBe(0)
        expect(isIdle(lane)).toBe(lane.inFlight === 0 && lane.failures === 0)
      }
    }),
    { numRuns: 1000 },
  )
})
