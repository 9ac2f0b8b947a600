import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatMoney, moneyNumber, parseMoney } from '../../src/core/money.ts'

for (const [text, minor] of [
  ['25.00', 2500n],
  ['25', 2500n],
  ['0.01', 1n],
  ['5.000000', 500n], // trailing zeros say nothing
  ['007.5', 750n],
  ['999999999999.99', 99_999_999_999_999n],
] as const) {
  test(`${text} is ${minor} minor units`, () => expect(parseMoney(text)).toBe(minor))
}

for (const [text, why] of [
  ['', 'plain decimal'],
  ['0', 'more than zero'],
  ['0.00', 'more than zero'],
  ['-0', 'plain decimal'],
  ['-5', 'plain decimal'],
  ['+5', 'plain decimal'],
  ['1e3', 'plain decimal'],
  ['NaN', 'plain decimal'],
  ['Infinity', 'plain decimal'],
  ['0x10', 'plain decimal'],
  ['1,000.00', 'plain decimal'],
  ['1 000', 'plain decimal'],
  [' 5', 'plain decimal'],
  ['5.', 'plain decimal'],
  ['.5', 'plain decimal'],
  ['5.001', 'at most 2 decimals (got 5.001)'],
  ['0.00000000000000000001', 'at most 2 decimals'],
  ['1234567890123', 'at most 12 digits'],
  ['٢٥', 'plain decimal'], // digits of another script
  ['9'.repeat(5000), 'at most 12 digits'],
] as const) {
  test(`${text.slice(0, 30)} is refused: ${why}`, () => expect(parseMoney(text)).toContain(why))
}

const amounts = fc.bigInt({ min: 1n, max: 99_999_999_999_999n })

test('what is written is read back', () => {
  fc.assert(
    fc.property(amounts, minor => {
      expect(parseMoney(formatMoney(minor))).toBe(minor)
    }),
  )
})

test('the number form has the same digits as the text form', () => {
  fc.assert(
    fc.property(amounts, minor => {
      expect(moneyNumber(minor).toFixed(2)).toBe(formatMoney(minor))
    }),
  )
})

test('no text becomes an amount that is not spelled in it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.eE+-]{0,20}$/)), text => {
      const minor = parseMoney(text)
      if (typeof minor !== 'bigint') return
      expect(minor).toBeGreaterThan(0n)
      expect(Number(text)).toBeCloseTo(Number(minor) / 100, 2)
    }),
    { numRuns: 5000 },
  )
})
