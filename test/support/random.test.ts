import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom, random, randomBelow, randomDigits, testSeed } from './random.ts'

test('the seed of the run is TEST_SEED, and fast-check has the same', () => {
  expect(String(testSeed)).toBe(process.env.TEST_SEED)
  expect(fc.readConfigureGlobal().seed).toBe(testSeed)
})

test('a file starts at the beginning of the sequence, and the same seed gives the same numbers', () => {
  const again = createRandom(testSeed)
  expect([random(), random()]).toEqual([again.random(), again.random()])
})

test('numbers below a limit, and digits', () => {
  const numbers = Array.from({ length: 1000 }, () => randomBelow(3))
  expect([...new Set(numbers)].toSorted((a, b) => a - b)).toEqual([0, 1, 2])
  expect(randomDigits(7)).toMatch(/^\d{7}$/)
})
