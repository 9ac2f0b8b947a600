import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Fee, feeOf, feeText, noFee, readFee, returnedFee } from '../../../src/core/merchant/fee.ts'

const read = (text: string) => {
  const fee = readFee(text)
  if (typeof fee === 'string') throw new Error(fee)
  return fee
}
const of = (fee: Fee, total: bigint, currency = 'GHS', payment_method = 'card') =>
  feeOf(fee, { total, currency, payment_method })

describe('the fee of a payment', () => {
  for (const [text, total, currency, expected] of [
    ['1.5% + 0.20, at most 20.00', 100_00n, 'GHS', 170n],
    ['1.5% + 0.20, at most 20.00', 10_000_00n, 'GHS', 2000n],
    ['1%', 50n, 'GHS', 1n], // 0.5 of a pesewa is rounded up
    ['1%', 49n, 'GHS', 0n],
    ['0.5', 10_00n, 'GHS', 50n],
    ['0.5', 20n, 'GHS', 20n], // never more than the total
    ['2%, at least 1.00', 10_00n, 'GHS', 100n],
    ['2%, at least 1.00, at most 1.50', 90_00n, 'GHS', 150n],
    ['1.5% + 0.50', 1000n, 'XOF', 16n], // 15 and a half, in a currency without decimals
    ['100%', 77n, 'GHS', 77n],
  ] as const)
    test(`${text} of ${total} ${currency} is ${expected}`, () =>
      expect(of(read(text), total, currency)).toBe(expected))

  test('is that of its payment method, else the general one', () => {
    const fee = read('1%; card: 2.9% + 0.30')
    expect(of(fee, 100_00n)).toBe(320n)
    expect(of(fee, 100_00n, 'GHS', 'mtn_mobile_money')).toBe(100n)
    expect(of(read('card: 2%'), 100_00n, 'GHS', 'mtn_mobile_money')).toBe(0n)
    expect(of(noFee, 100_00n)).toBe(0n)
  })

  test('is exact, within its limits, and grows with the total', () => {
    const amount = fc.bigInt(1n, 99_999_999_999n)
    const rule = fc.record({ percent: fc.bigInt(1n, 1_000_000n), flat: fc.bigInt(0n, 100_000n) })
    fc.assert(
      fc.property(amount, amount, rule, (a, b, { percent, flat }) => {
        const fee: Fee = {
          rules: [{ payment_method: null, millionths: percent, flat, least: null, most: null }],
        }
        const [less, more] = a < b ? [a, b] : [b, a]
        const exact = less * percent + flat * 1_000_000n // in millionths of a pesewa
        const taken = of(fee, less)
        expect(taken).toBeGreaterThanOrEqual(0n)
        expect(taken).toBeLessThanOrEqual(less)
        if (taken < less) {
          expect(2n * (taken * 1_000_000n - exact)).toBeLessThanOrEqual(1_000_000n) // half is rounded up
          expect(2n * (exact - taken * 1_000_000n)).toBeLessThan(1_000_000n)
        }
        expect(of(fee, more)).toBeGreaterThanOrEqual(taken)
      }),
    )
  })
})

test('what is returned by any refunds adds up to the fee', () => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 100_000n),
      fc.array(fc.bigInt(1n, 1_000_000n), { minLength: 1, maxLength: 20 }),
      (fee, parts) => {
        const total = parts.reduce((sum, part) => sum + part, 0n)
        let refunded = 0n
        let returned = 0n
        for (const part of parts) {
          const share = returnedFee(fee, total, { before: refunded, after: refunded + part })
          expect(share).toBeGreaterThanOrEqual(0n)
          refunded += part
          returned += share
        }
        expect(returned).toBe(fee)
      },
    ),
  )
})

describe('the text of a fee', () => {
  for (const text of ['1.5% + 0.20, at most 20.00', '1%; card: 2.9% + 0.30, at least 0.50', '0.50'])
    test(`${text} is shown as it was typed`, () => expect(feeText(read(text))).toBe(text))

  for (const text of [
    '',
    'free',
    '1.5',
    '1.5% 0.20',
    '+ 0.20',
    '-1%',
    '1% + 0.201',
    '101%',
    '1%; 2%',
    'card: 1%; card: 2%',
    '1%, at most 0',
    '1%, at least 3.00, at most 2.00',
    '1% per month',
  ])
    test(`${text || 'nothing'} ${text === '1.5' ? 'is an amount' : 'is refused'}`, () =>
      expect(typeof readFee(text)).toBe(text === '1.5' ? 'object' : 'string'))
})
