import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryAfterMs } from '../../../src/core/notification/schedule.ts'
import { noon, seconds } from '../../support/payments/rows.ts'

for (const [text, ms] of [
  ['', 0],
  ['soon', 0],
  ['-5', 0],
  ['-99999999999', 0],
  ['5.5', 0],
  ['1e3', 0],
  ['0x10', 0],
  ['Mon, 02 Mar 2026 11:59:59 GMT', 0], // over
  ['99 Foo 2026', 0],
  ['0', 0],
  ['1', seconds(1)],
  [' 120 ', seconds(120)],
  ['999999999', 999_999_999_000],
  ['99999999999999999999', Number('99999999999999999999') * 1000], // as much as there is
  ['9'.repeat(100), Number('9'.repeat(100)) * 1000],
  ['Mon, 02 Mar 2026 12:00:30 GMT', seconds(30)],
  ['Monday, 02-Mar-26 12:00:30 GMT', seconds(30)],
] as const)
  test(`Retry-After: ${text.slice(0, 40) || 'nothing'} is ${ms} ms`, () =>
    expect(retryAfterMs(text, noon)).toBe(ms))

test('Retry-After is untrusted text: the pause is a number and never negative', () => {
  expect(retryAfterMs(null, noon)).toBe(0)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), text => {
      expect(retryAfterMs(text, noon)).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 2000 },
  )
})
