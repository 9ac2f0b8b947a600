import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  jitterOf,
  nextTryAt,
  offsets,
  tryAnyway,
  deliveryWindowMs,
} from '../../../src/core/notification/schedule.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const lastOffset = offsets.at(-1) as number

const runs = { numRuns: 2000 }
const seeds = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
const durations = fc.infiniteStream(fc.nat(seconds(10)))

// As in the documentation.
const clockTimes =
  `0:00:00 0:00:10 0:00:40 0:01:40 0:03:40 0:08:40 0:18:40 0:38:40 1:18:40 2:18:40 3:48:40 5:48:40
  8:48:40 12:48:40 17:48:40 23:48:40`.split(/\s+/)
const msOf = (text: string) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000

// How late a try may be: the larger of 2 s and 10 % of the gap, at most 5 minutes, and nothing on the first.
const latest = clockTimes.map((text, at) => {
  const gap = msOf(text) - msOf(clockTimes[at - 1] ?? text)
  return at === 0 ? 0 : msOf(text) + Math.min(Math.max(seconds(2), gap / 10), minutes(5))
})

type Life = { startMs: number[]; end: 'exhausted' | 'unfinished' }
type Plan = {
  seeds: Iterator<number>
  late?: (due: number) => number // when the try that is due really starts
  asked?: (at: number) => number
}

// The tries of a delivery that all fail.
function live({ seeds: seed, late = due => due, asked = () => 0 }: Plan): Life {
  const startMs: number[] = []
  for (let due = 0; startMs.length < 100; ) {
    const start = late(due)
    startMs.push(start)
    const next = nextTryAt(noon, after(start), seed.next().value as number, asked(startMs.length))
    if (next === null) return { startMs, end: 'exhausted' }
    due = next.getTime() - noon.getTime()
    if (due <= start) break
  }
  return { startMs, end: 'unfinished' }
}

const isInBand = (ms: number, at: number) =>
  ms >= msOf(clockTimes[at] as string) && ms <= (latest[at] as number)

test('the offsets are those of the documentation', () => {
  expect(offsets).toEqual(clockTimes.map(msOf))
  expect([lastOffset, deliveryWindowMs]).toEqual([msOf('23:48:40'), hours(24)])
})

for (const [why, started] of [
  ['the last try', lastOffset],
  ['a last try with all its jitter', lastOffset + minutes(5)],
  ['a grace try', hours(24) + 1],
  ['a grace try of next year', hours(24 * 400)],
] as const)
  test(`after ${why} there is no other, whatever pause is requested`, () => {
    for (const asked of [0, 1, minutes(5), hours(1000)])
      expect(nextTryAt(noon, after(started), 0.5, asked)).toBeNull()
  })

test('a clock that is set back skips no try', () => {
  expect(nextTryAt(noon, after(-1), 0)).toEqual(after(seconds(10)))
  expect(nextTryAt(noon, after(-hours(1)), 0)).toEqual(after(seconds(10)))
})

test('a delivery that always fails has 16 tries in their bands, none after 24 hours, and is exhausted', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { startMs, end } = live({ seeds: seed })
      expect(end).toBe('exhausted')
      expect(startMs).toHaveLength(16)
      expect(startMs.filter((ms, at) => !isInBand(ms, at))).toEqual([])
      expect(startMs.every(ms => ms < deliveryWindowMs)).toBe(true)
    }),
    runs,
  )
})

test('jitter does not accumulate: the distance of each try from its offset depends on its random number only', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 0.999999, noNaN: true }), { minLength: 16, maxLength: 16 }),
      all => {
        const { startMs } = live({ seeds: all[Symbol.iterator]() })
        const planned = offsets.map(
          (offset, at) => offset + (at === 0 ? 0 : jitterOf(at, all[at - 1] as number)),
        )
        expect(startMs).toEqual(planned)
      },
    ),
    runs,
  )
})

test('jitter fills its band', () => {
  for (let at = 1; at < offsets.length; at++) {
    expect(jitterOf(at, 0)).toBe(0)
    const most = (latest[at] as number) - (offsets[at] as number)
    expect(jitterOf(at, 0.9999999)).toBeLessThanOrEqual(most)
    expect(jitterOf(at, 0.9999999)).toBeGreaterThan(most * 0.99)
  }
})

test('a try that starts late, because the one before took ten seconds, does not move later ones', () => {
  fc.assert(
    fc.property(seeds, durations, (seed, duration) => {
      const dues: number[] = []
      const late = (due: number) => {
        dues.push(due)
        return due === 0 ? 0 : due + (duration.next().value as number)
      }
      const { end } = live({ seeds: seed, late })
      expect(end).toBe('exhausted')
      expect(dues).toHaveLength(16)
      expect(dues.filter((ms, at) => !isInBand(ms, at))).toEqual([])
    }),
    runs,
  )
})

test('an endpoint that requests pauses of any length still gets 16 tries, each after at most twice its gap', () => {
  const wishes = fc.infiniteStream(
    fc.oneof(fc.constant(0), fc.nat(hours(7)), fc.constant(Number.POSITIVE_INFINITY)),
  )
  fc.assert(
    fc.property(seeds, wishes, (seed, wish) => {
      const wanted: number[] = [0]
      const asked = () => {
        wanted.push(wish.next().value as number)
        return wanted.at(-1) as number
      }
      const { startMs, end } = live({ seeds: seed, asked })
      expect(end).toBe('exhausted')
      expect(startMs).toHaveLength(16)
      const faults = startMs.slice(1).filter((ms, index) => {
        const [before, offset] = [offsets[index] as number, offsets[index + 1] as number]
        const twice = before + 2 * (offset - before)
        const granted = Math.min(
          (startMs[index] as number) + (wanted[index + 1] as number),
          twice,
          lastOffset,
        )
        return ms < Math.max(offset, granted) || ms > Math.max(latest[index + 1] as number, twice)
      })
      expect(faults).toEqual([])
      expect(startMs.at(-1)).toBeLessThan(deliveryWindowMs)
    }),
    runs,
  )
})

test('after an outage of the gateway all overdue tries are one try at once; after the window there is one grace try', () => {
  const outages = fc.record({ from: fc.nat(hours(30)), ms: fc.nat(hours(60)) })
  fc.assert(
    fc.property(seeds, outages, (seed, { from, ms }) => {
      const until = from + ms
      const late = (due: number) => (due >= from && due < until ? until : due)
      const { startMs, end } = live({ seeds: seed, late })
      expect(end).toBe('exhausted')
      expect(new Set(startMs).size).toBe(startMs.length)
      expect(startMs.filter(at => at >= from && at < until)).toEqual([])
      const inTime = startMs.filter(at => at <= deliveryWindowMs)
      if (inTime.length === startMs.length) expect(startMs.at(-1)).toBeGreaterThanOrEqual(lastOffset)
      else expect(startMs.slice(inTime.length)).toEqual([until])
      // All tries that were not overdue are there.
      const missed = offsets.filter(offset => offset >= from && offset < until).length
      expect(startMs.length).toBeGreaterThanOrEqual(16 - missed)
      expect(startMs.length).toBeLessThanOrEqual(16)
    }),
    runs,
  )
})

test('in a parked lane every delivery is tried after six hours at the latest, and at the end of the schedule', () => {
  fc.assert(
    fc.property(fc.option(fc.nat(hours(30)), { nil: null }), last => {
      const anyway = tryAnyway(noon, last === null ? null : after(last)).getTime() - noon.getTime()
      const since = last ?? 0
      expect(anyway).toBeLessThanOrEqual(since + hours(6))
      expect(anyway).toBeGreaterThanOrEqual(since)
      if (since < lastOffset) expect(anyway).toBeLessThanOrEqual(lastOffset)
    }),
    runs,
  )
})

test('a redelivery counts from its new beginning, not from the last try', () => {
  expect(tryAnyway(noon, after(-hours(90)))).toEqual(after(hours(6)))
})
