import { expect, test } from 'vitest'
import { statusJson, keyedStatusJson, statusRecord } from '../../../src/core/interface/statusRecord.ts'
import { aPayment, noon } from '../../support/payments/rows.ts'

for (const [minor, currency, flat, keyed] of [
  [1n, 'GHS', '0.01', '0.01'],
  [2550n, 'GHS', '25.5', '25.50'],
  [99_999_999_999_999n, 'EUR', '999999999999.99', '999999999999.99'],
  [5000n, 'UGX', '5000', '5000.00'],
  [1n, 'XOF', '1', '1.00'],
  [999_999_999_999n, 'XAF', '999999999999', '999999999999.00'],
] as const)
  test(`${minor} minor units of ${currency}: ${flat} in the flat record, ${keyed} as text in the keyed one`, () => {
    const payment = aPayment({ total: minor, currency, charged: minor, status: 'paid', invoice_id: 'A-1' })
    const record = statusRecord(payment, noon, 'whole')
    const both = statusJson(payment, record)
    const amounts = [...both.matchAll(/"amount":([^,]*),"currency":"(\w+)","total_amount_charged":([^,]*),/g)]
    expect(amounts.map(([, ...told]) => told)).toEqual([
      [`"${keyed}"`, currency, flat],
      [flat, currency, flat],
    ])
    expect(JSON.parse(keyedStatusJson(payment, record))['A-1'].amount).toBe(keyed)
  })

test('an unknown currency: an error rather than a wrong amount', () => {
  const payment = aPayment({ currency: 'XAU' as 'GHS' })
  expect(() => statusRecord(payment, noon, 'whole')).toThrow('does not know the currency XAU')
})

for (const [reversed_amount, currency, shown] of [
  [1050n, 'GHS', 10.5],
  [5000n, 'UGX', 5000],
] as const)
  test(`a refund of ${shown} ${currency}: the status stays paid, and the record has the time and the amount`, () => {
    const refunded = { status: 'paid', reversed_at: noon, reversed_amount, currency } as const
    const record = statusRecord(aPayment({ ...refunded, total: 10_000n }), noon, 'whole')
    expect(record).toMatchObject({
      status: 'paid',
      reversed_at: noon.toISOString(),
      reversed_amount: shown,
    })
  })
