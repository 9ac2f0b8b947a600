import { expect, test } from 'vitest'
import { readMerchantSettings } from '../../src/core/merchant/settings.ts'
import { createRateLimits } from '../../src/runtime/rateLimits.ts'
import type { Caller } from '../../src/store/merchants/callers.ts'

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
  ['unknownToken', 100, 20],
  ['failedLookup', 100, 20],
  ['unknownCallback', 100, 20],
  ['visitSandbox', 500, 50],
] as const) {
  test(`${what}: ${burst} at once, then ${rate} a second, for each address by itself`, () => {
    const limits = createRateLimits(() => now)
    expect(passes(burst + 50, () => limits[what]('192.0.2.1'))).toBe(burst)
    expect(passes(burst, () => limits[what]('192.0.2.2'))).toBe(burst)
    now += 1000
    expect(passes(burst + 50, () => limits[what]('192.0.2.1'))).toBe(rate)
  })
}

for (const what of ['mayDiagnose', 'maySearchDocs'] as const)
  test(`${what}: 100 at once, then 20 a second, for all clients together`, () => {
    const limits = createRateLimits(() => now)
    const allowed = () => Array.from({ length: 150 }, () => limits[what]()).filter(Boolean).length
    expect(allowed()).toBe(100)
    now += 1000
    expect(allowed()).toBe(20)
  })

test('test tools: 50 at once, then 5 a second, for each merchant by itself, even without a limit of its own', () => {
  const limits = createRateLimits(() => now)
  const settings = readMerchantSettings({ rate_limit: '0' })
  const use = (merchant_id: string) => () => limits.testTool({ merchant_id, settings } as Caller)
  expect(passes(100, use('ama'))).toBe(50)
  expect(passes(100, use('kofi'))).toBe(50)
  now += 1000
  expect(passes(100, use('ama'))).toBe(5)
})

test('tokens of operators: 20 wrong ones, then one a second, for each address and door by itself', () => {
  const limits = createRateLimits(() => now)
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
  const limits = createRateLimits(() => now)
  expect(passes(200, () => limits.unknownToken('192.0.2.1'))).toBe(100)
  expect(passes(200, () => limits.visit('192.0.2.1'))).toBe(200)
  expect(passes(200, () => limits.guess('192.0.2.1'))).toBe(200)
})

test('unknown callbacks leave pages, misses and unknown tokens of the address alone, and so do sandbox pages', () => {
  const limits = createRateLimits(() => now)
  expect(limits.hasUnknownCallbacksLeft('192.0.2.1')).toBe(true)
  expect(passes(200, () => limits.unknownCallback('192.0.2.1'))).toBe(100)
  expect(limits.hasUnknownCallbacksLeft('192.0.2.1')).toBe(false)
  expect(limits.hasUnknownCallbacksLeft('192.0.2.2')).toBe(true)
  expect(passes(600, () => limits.visitSandbox('192.0.2.1'))).toBe(500)
  expect(passes(200, () => limits.visit('192.0.2.1'))).toBe(200)
  expect(passes(100, () => limits.unknownToken('192.0.2.1'))).toBe(100)
  expect(passes(100, () => limits.failedLookup('192.0.2.1'))).toBe(100)
})

const settings = readMerchantSettings({ rate_limit: '5', rate_burst: '20' })
const merchant = { merchant_key: 'tk_ama', settings } as Caller
const other = { merchant_key: 'tk_kofi', settings } as Caller

test('what is not signed has a bucket for each merchant and address, and leaves that of what is signed alone', () => {
  const limits = createRateLimits(() => now)
  expect(passes(100, () => limits.unsigned(merchant, '192.0.2.1'))).toBe(20)
  expect(passes(100, () => limits.unsigned(merchant, '192.0.2.2'))).toBe(20)
  expect(passes(100, () => limits.unsigned(other, '192.0.2.1'))).toBe(20)
  expect(passes(100, () => limits.request(merchant))).toBe(20)
  now += 1000
  expect(passes(100, () => limits.unsigned(merchant, '192.0.2.1'))).toBe(5)
})

test('an address of IPv6 is a whole /64 there, too', () => {
  const limits = createRateLimits(() => now)
  let host = 0
  expect(passes(100, () => limits.unsigned(merchant, `2001:db8:1:3::${(++host).toString(16)}`))).toBe(20)
})

test('strangers from more addresses than we remember give a merchant none of its rate back', () => {
  const limits = createRateLimits(() => now)
  expect(passes(100, () => limits.request(merchant))).toBe(20)
  expect(passes(100, () => limits.failedLookup('198.51.100.1'))).toBe(100)
  for (let at = 0; at < 25_000; at++)
    limits.unsigned(merchant, `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`)
  expect(passes(100, () => limits.request(merchant))).toBe(0)
  expect(passes(100, () => limits.failedLookup('198.51.100.1'))).toBe(0)
})

test('a merchant without a limit has none for strangers either', () => {
  const limits = createRateLimits(() => now)
  const free = {
    merchant_key: 'tk_free',
    settings: readMerchantSettings({ rate_limit: '0', rate_burst: '1' }),
  }
  expect(passes(500, () => limits.unsigned(free as Caller, '192.0.2.1'))).toBe(500)
})
