import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTimeZone, startOfDay, startOfNextDay } from '../../src/core/zone.ts'

describe('the day of a moment', () => {
  for (const [zone, at, from, until] of [
    ['UTC', '2026-03-02T12:00:00Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'],
    ['UTC', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'],
    ['Africa/Lagos', '2026-03-02T23:30:00Z', '2026-03-02T23:00:00Z', '2026-03-03T23:00:00Z'],
    ['America/Lima', '2026-03-02T03:00:00Z', '2026-03-01T05:00:00Z', '2026-03-02T05:00:00Z'],
    ['Asia/Kathmandu', '2026-03-02T12:00:00Z', '2026-03-01T18:15:00Z', '2026-03-02T18:15:00Z'],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'], // 23 hours
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'], // 25 hours
  ] as const)
    test(`${at} in ${zone}`, () => {
      expect(startOfDay(new Date(at), zone)).toEqual(new Date(from))
      expect(startOfNextDay(new Date(at), zone)).toEqual(new Date(until))
    })

  test('contains the moment, and days follow each other', () => {
    const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
    const zones = fc.constantFrom('UTC', 'Africa/Accra', 'Africa/Nairobi', 'Africa/Cairo', 'Europe/London')
    fc.assert(
      fc.property(moments, zones, (at, zone) => {
        const [from, until] = [startOfDay(at, zone), startOfNextDay(at, zone)]
        expect(from.getTime()).toBeLessThanOrEqual(at.getTime())
        expect(until.getTime()).toBeGreaterThan(at.getTime())
        expect(startOfDay(until, zone)).toEqual(until)
        expect(startOfNextDay(from, zone)).toEqual(until)
      }),
    )
  })
})

test('a time zone is known or not', () => {
  expect(['UTC', 'Africa/Accra', 'Africa/Akkra', ''].map(isTimeZone)).toEqual([true, true, false, false])
})
