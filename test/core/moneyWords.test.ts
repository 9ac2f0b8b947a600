import { expect, test } from 'vitest'
import { localizedFigure, localizedMoney } from '../../src/core/money.ts'

const thin = '\u202f'
const firm = '\u00a0'

for (const [minor, currency, english, french] of [
  [2500n, 'GHS', 'GHS 25.00', `25,00${firm}GHS`],
  [1n, 'GHS', 'GHS 0.01', `0,01${firm}GHS`],
  [12345678n, 'USD', 'USD 123,456.78', `123${thin}456,78${firm}USD`],
  [100000n, 'EUR', 'EUR 1,000.00', `1${thin}000,00${firm}EUR`],
  [5000n, 'UGX', 'UGX 5,000', `5${thin}000${firm}UGX`],
  [1n, 'XOF', 'XOF 1', `1${firm}XOF`],
  [123450n, 'MGA', 'MGA 1,234.50', `1${thin}234,50${firm}MGA`], // that Intl would round
  // more digits than a float has
  [999_999_999_999_999_999n, 'RWF', 'RWF 999,999,999,999,999,999', `999${`${thin}999`.repeat(5)}${firm}RWF`],
  [
    90_071_992_547_409_93n,
    'GBP',
    'GBP 90,071,992,547,409.93',
    `90${thin}071${thin}992${thin}547${thin}409,93${firm}GBP`,
  ],
  [
    999_999_999_999_999_999n,
    'GHS',
    'GHS 9,999,999,999,999,999.99',
    `9${thin}999${thin}999${thin}999${thin}999${thin}999,99${firm}GHS`,
  ],
] as const)
  test(`${english} is ${french} in French`, () => {
    expect(localizedMoney(minor, currency, 'en-GB')).toBe(english)
    expect(localizedMoney(minor, currency, 'fr-FR')).toBe(french)
  })

for (const [locale, minor, words, currency] of [
  ['en-GB', 6000n, '60.00', 'GHS'],
  ['en-GB', 6000n, '6,000', 'UGX'],
  ['fr-FR', 6_000_000n, '6\u202f000\u202f000', 'XOF'],
  ['en-GB', 123_456_789_012_345_678n, '1,234,567,890,123,456.78', 'GHS'], // more than a float can hold
  ['fr-FR', 123450n, '1\u202f234,50', 'GHS'],
] as const)
  test(`without its currency, ${minor} of ${currency} is ${words} in ${locale}`, () => {
    expect(localizedFigure(minor, currency, locale)).toBe(words)
  })
