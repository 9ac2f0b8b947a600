import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Currency,
  currencies,
  decimalsOf,
  figureIn,
  formatMoney,
  isCurrency,
  moneyNumber,
  parseMoney,
  parseReportedMoney,
  twoDecimals,
  wholeCurrencies,
} from '../../src/core/money.ts'

for (const [text, minor] of [
  ['25.00', 2500n],
  ['25', 2500n],
  ['0.01', 1n],
  ['5.000000', 500n], // trailing zeros are ignored
  ['007.5', 750n],
  ['999999999999.99', 99_999_999_999_999n],
] as const) {
  test(`${text} is ${minor} minor units`, () => expect(parseMoney(text, 'GHS')).toBe(minor))
}

for (const [text, minor] of [
  ['5000', 5000n],
  ['5000.00', 5000n],
  ['5000.0', 5000n],
  ['1', 1n],
  ['1.000000', 1n],
  ['007', 7n],
  ['999999999999', 999_999_999_999n],
] as const) {
  test(`${text} is ${minor} shillings of Uganda`, () => expect(parseMoney(text, 'UGX')).toBe(minor))
}

const strange = [
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
  ['1234567890123', 'at most 12 digits'],
  ['٢٥', 'plain decimal'], // digits of another script
  ['9'.repeat(5000), 'at most 12 digits'],
] as const

const refused = (currency: Currency, text: string, why: string) =>
  test(`${text.slice(0, 30)} is refused in ${currency}: ${why}`, () =>
    expect(parseMoney(text, currency)).toContain(why))

for (const [text, why] of [
  ...strange,
  ['5.001', 'at most 2 decimals (got 5.001)'],
  ['0.00000000000000000001', 'at most 2 decimals'],
] as const)
  refused('GHS', text, why)

for (const [text, why] of [
  ...strange,
  ['5000.50', 'UGX has no decimals (got 5000.50)'],
  ['0.01', 'UGX has no decimals (got 0.01)'],
  ['0.00000000000000000001', 'UGX has no decimals'],
] as const)
  refused('UGX', text, why)

test('the decimals are those of ISO 4217', () => {
  expect(wholeCurrencies.toSorted()).toEqual(['BIF', 'DJF', 'GNF', 'KMF', 'RWF', 'UGX', 'XAF', 'XOF'])
  for (const code of ['GHS', 'USD', 'GBP', 'EUR', 'NGN', 'KES', 'ZAR', 'ZMW', 'TZS', 'MGA'] as const)
    expect(decimalsOf(code)).toBe(2)
})

for (const word of ['ghs', 'XAU', '', 'toString', '__proto__', 'constructor', 'length', 7, null, ['GHS']])
  test(`${JSON.stringify(word)} is no currency`, () => expect(isCurrency(word)).toBe(false))

test('an amount in an unknown currency is never guessed', () => {
  const newer = 'XAU' as Currency
  for (const write of [formatMoney, twoDecimals, moneyNumber])
    expect(() => write(2500n, newer)).toThrow('does not know the currency XAU')
  expect(() => parseMoney('25.00', newer)).toThrow('does not know the currency XAU')
  expect(figureIn(2500n, newer)).toBe('2500 in minor units') // people are told what is known
  expect(figureIn(2500n, 'GHS')).toBe('25.00')
})

test('what a provider says is read by its own word, or by what was asked for', () => {
  expect(parseReportedMoney('25.50', 'GHS', 'UGX')).toBe(2550n)
  expect(parseReportedMoney('2550', 'UGX', 'GHS')).toBe(2550n)
  for (const said of ['XAU', '', undefined, 7]) {
    expect(parseReportedMoney('25.50', said, 'GHS')).toBe(2550n)
    expect(parseReportedMoney('25.50', said, 'UGX')).toContain('UGX has no decimals')
  }
})

for (const [minor, currency, text, older, number] of [
  [2500n, 'GHS', '25.00', '25.00', 25],
  [1n, 'GHS', '0.01', '0.01', 0.01],
  [99_999_999_999_999n, 'USD', '999999999999.99', '999999999999.99', 999_999_999_999.99],
  [5000n, 'UGX', '5000', '5000.00', 5000],
  [1n, 'XOF', '1', '1.00', 1],
  [999_999_999_999n, 'RWF', '999999999999', '999999999999.00', 999_999_999_999],
] as const)
  test(`${minor} minor units of ${currency} are written ${text}, and ${older} with two decimals`, () => {
    expect(formatMoney(minor, currency)).toBe(text)
    expect(twoDecimals(minor, currency)).toBe(older)
    expect(moneyNumber(minor, currency)).toBe(number)
  })

const mostIn = (currency: Currency) => BigInt('9'.repeat(12 + decimalsOf(currency)))

for (const currency of currencies)
  describe(currency, () => {
    const amounts = fc.bigInt({ min: 1n, max: mostIn(currency) })

    test('what is written is read back', () => {
      fc.assert(
        fc.property(amounts, minor => {
          expect(parseMoney(formatMoney(minor, currency), currency)).toBe(minor)
          expect(parseMoney(twoDecimals(minor, currency), currency)).toBe(minor)
        }),
      )
    })

    test('the number form has the same digits as the text forms', () => {
      fc.assert(
        fc.property(amounts, minor => {
          const number = moneyNumber(minor, currency)
          expect(number.toFixed(decimalsOf(currency))).toBe(formatMoney(minor, currency))
          expect(number.toFixed(2)).toBe(twoDecimals(minor, currency))
          expect(parseMoney(JSON.stringify(number), currency)).toBe(minor)
        }),
      )
    })

    test('the largest is written and read, one more is refused', () => {
      expect(parseMoney(formatMoney(mostIn(currency), currency), currency)).toBe(mostIn(currency))
      expect(parseMoney(formatMoney(mostIn(currency) + 1n, currency), currency)).toContain(
        'at most 12 digits',
      )
    })
  })

for (const currency of ['GHS', 'UGX'] as const)
  test(`no text becomes an amount in ${currency} that is not spelled in it`, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.eE+-]{0,20}$/)), text => {
        const minor = parseMoney(text, currency)
        if (typeof minor !== 'bigint') return
        expect(minor).toBeGreaterThan(0n)
        expect(Number(text)).toBeCloseTo(Number(minor) / 10 ** decimalsOf(currency), 2)
      }),
      { numRuns: 5000 },
    )
  })
