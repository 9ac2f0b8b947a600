import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeSettings } from '../../../src/core/merchant/settings.ts'
import {
  leastIn,
  mostIn,
  readTotalLimit,
  type TotalLimit,
  totalLimitText,
} from '../../../src/core/merchant/totalLimit.ts'
import { currencies, parseMoney } from '../../../src/core/money.ts'

const usual = 99_999_999n
const read = (text: string) => readTotalLimit(text, usual) as TotalLimit

for (const [text, least, most] of [
  ['5', { GHS: 500n, UGX: 5n }, { GHS: 500n, UGX: 5n }],
  ['0.01', { GHS: 1n, UGX: 1n }, { GHS: 1n, UGX: 0n }],
  ['5.50', { GHS: 550n, UGX: 6n }, { GHS: 550n, UGX: 5n }],
  ['999999.99', { GHS: 99_999_999n, UGX: 1_000_000n }, { GHS: 99_999_999n, UGX: 999_999n }],
  ['5000,UGX:20000000', { GHS: 500_000n, UGX: 20_000_000n }, { GHS: 500_000n, UGX: 20_000_000n }],
  [' UGX:20000000 , USD:400.50 ', { USD: 40_050n, UGX: 20_000_000n }, { GHS: usual, USD: 40_050n }],
] as const)
  test(`${text} holds in each currency for itself`, () => {
    for (const [code, minor] of Object.entries(least)) expect(leastIn(read(text), code as 'GHS')).toBe(minor)
    for (const [code, minor] of Object.entries(most)) expect(mostIn(read(text), code as 'GHS')).toBe(minor)
  })

for (const [text, why] of [
  ['', 'plain decimal'],
  ['5,', 'plain decimal'],
  ['1e3', 'plain decimal'],
  ['5.001', 'at most 2 decimals'],
  ['5,6', 'a second figure'],
  ['UGX:5,UGX:6', 'a second figure'],
  ['UGX:0.5', 'UGX has no decimals'],
  ['UGX:', 'plain decimal'],
  ['UGX:0', 'more than zero'],
  ['ugx:5', 'is not a known currency'],
  ['XAU:5', 'is not a known currency'],
  [':5', 'an empty word'],
  ['UGX:5:6', 'plain decimal'],
  ['toString:5', 'is not a known currency'],
] as const)
  test(`${text || 'nothing'} is refused: ${why}`, () => expect(readTotalLimit(text, usual)).toContain(why))

test('what is shown can be typed again', () => {
  expect(totalLimitText(read('20'))).toBe('20.00')
  expect(totalLimitText(read('UGX:20000000,USD:400.5,20'))).toBe('20.00,UGX:20000000,USD:400.50')
  for (const text of ['5', 'UGX:7', '0.5,XOF:900,KES:12.30'])
    expect(read(totalLimitText(read(text)))).toEqual(read(text))
})

for (const [changes, currency] of [
  [['min_total=10', 'max_total=5'], 'GHS 5.00'],
  [['min_total=10,UGX:500', 'max_total=20,UGX:400', 'currencies=GHS,UGX'], 'UGX 400'],
  [['min_total=0.30', 'max_total=0.50', 'currencies=UGX'], 'UGX 0'], // nothing lies between
  [['min_total=100', 'max_total=200,USD:50', 'currencies=GHS,USD'], 'USD 50.00'],
] as const)
  test(`${changes.join(' ')} cross each other`, () => {
    expect(changeSettings({}, changes).faults).toEqual([
      `min_total: must not be more than max_total, which is ${currency}`,
    ])
  })

test('limits that cross are a fault only in a currency that the merchant takes', () => {
  const { texts, faults } = changeSettings({}, ['min_total=100', 'max_total=200,USD:50'])
  expect(faults).toEqual([])
  expect(changeSettings(texts, ['currencies=USD']).faults).toHaveLength(1)
})

test('a total lies within a limit just when its figure does', () => {
  const figures = fc.bigInt({ min: 1n, max: 10n ** 12n })
  fc.assert(
    fc.property(figures, figures, fc.constantFrom(...currencies), (hundredths, total, currency) => {
      const limit = { every: hundredths, own: {} }
      const isWhole = parseMoney('0.01', currency) !== 1n
      const scaled = isWhole ? total * 100n : total
      expect(total >= leastIn(limit, currency)).toBe(scaled >= hundredths)
      expect(total <= mostIn(limit, currency)).toBe(scaled <= hundredths)
    }),
  )
})
