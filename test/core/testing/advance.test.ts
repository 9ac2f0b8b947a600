import { expect, test } from 'vitest'
import { readAdvance } from '../../../src/core/testing/advance.ts'

for (const [text, ms] of [
  ['90s', 90_000],
  ['15m', 900_000],
  ['24h', 86_400_000],
  ['3d', 259_200_000],
  ['30d', 2_592_000_000],
  ['720h', 2_592_000_000],
] as const)
  test(`${text} is ${ms} ms`, () => expect(readAdvance(text)).toBe(ms))

for (const text of ['', '0s', '1', 's', '1.5h', '-1h', '1 h', '1H', '01h', '1w', '1h30m', '10000000000s'])
  test(`"${text}" is refused`, () =>
    expect(() => readAdvance(text)).toThrow('advance: must be a time such as 90s, 15m, 24h or 3d'))

for (const text of ['31d', '721h', '2592001s'])
  test(`${text} is too far`, () => expect(() => readAdvance(text)).toThrow('advance: at most 30d'))
