import { expect, test } from 'vitest'
import { isLate, readingOf, smoothed } from '../../../src/web/server/overload.ts'

const after = (...readings: number[]) => isLate(readings.reduce(smoothed, 0))
const times = (n: number, reading: number) => Array.from({ length: n }, () => reading)

for (const [what, readings, late] of [
  ['an idle machine', times(50, 0), false],
  ['a busy one', times(50, 80), false],
  ['one long turn, however long', [...times(50, 5), 60_000], false],
  ['two in a row', [5000, 5000], true],
  ['turns that are late all the time', times(20, 250), true],
  ['a crowd that has gone', [...times(50, 900), ...times(10, 0)], false],
] as const)
  test(`${what}: ${late ? 'documents wait' : 'documents are served'}`, () =>
    expect(after(...readings)).toBe(late))

// The timer of an idle process is also late: when it is paused, or when other programs use the processors.
test('lateness counts as far as the event loop was busy', () => {
  expect(readingOf(300, 2)).toBe(2) // idle, not run
  expect(readingOf(300, 380)).toBe(300)
  expect(readingOf(-1, 20)).toBe(0)
})
