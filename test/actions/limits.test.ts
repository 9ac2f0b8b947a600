import { expect, test } from 'vitest'
import { createLimits } from '../../src/actions/limits.ts'

let now = 0
const passes = (n: number, ask: () => void) => {
  let passed = 0
  for (let at = 0; at < n; at++) {
    try {
      ask()
      passed++
    } catch (refusal) {
      expect(refusal).toMatchObject({ http: 429, retryAfterSeconds: 1 })
    }
  }
  return passed
}

for (const [what, burst, rate] of [
  ['visit', 3000, 300],
  ['astray', 100, 20],
  ['miss', 100, 20],
] as const) {
  test(`${what}: ${burst} at once, then ${rate} a second, for each address by itself`, () => {
    const limits = createLimits(() => now)
    expect(passes(burst + 50, () => limits[what]('192.0.2.1'))).toBe(burst)
    expect(passes(burst, () => limits[what]('192.0.2.2'))).toBe(burst)
    now += 1000
    expect(passes(burst + 50, () => limits[what]('192.0.2.1'))).toBe(rate)
  })
}

test('tokens of operators: 20 wrong ones, then one a second, for each address and door by itself', () => {
  const limits = createLimits(() => now)
  const guess = (door: string, address: string) => () => {
    limits.tryToken(door, address)
    limits.wrongToken(door, address)
  }
  expect(passes(300, guess('support', '192.0.2.1'))).toBe(20)
  expect(passes(300, guess('support', '192.0.2.2'))).toBe(20)
  expect(passes(300, guess('metrics', '192.0.2.1'))).toBe(20)
  expect(passes(1, () => limits.tryToken('support', '192.0.2.1'))).toBe(0)
  now += 1000
  expect(passes(50, () => limits.tryToken('support', '192.0.2.1'))).toBe(50) // the right one takes nothing
  expect(passes(300, guess('support', '192.0.2.1'))).toBe(1)
})

test('who goes astray may still visit what is there, and ask the interface', () => {
  const limits = createLimits(() => now)
  expect(passes(200, () => limits.astray('192.0.2.1'))).toBe(100)
  expect(passes(200, () => limits.visit('192.0.2.1'))).toBe(200)
  expect(passes(200, () => limits.guess('192.0.2.1'))).toBe(200)
})
