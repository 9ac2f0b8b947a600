import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ipnStyles } from '../../../src/core/merchant/settings.ts'
import {
  ipnUrlOf,
  isSent,
  notificationBody,
  notificationId,
  readNotificationId,
} from '../../../src/core/notification/notification.ts'
import { after, aPayment, seconds } from '../../support/payments/rows.ts'

const paid = aPayment({
  invoice_id: 'A-1/7',
  tx_reference: 'TG-1KJQ6P-VEG07N-2CA7MX',
  status: 'paid',
  status_reason: 'Thank you.',
  total: 123_456n,
  currency: 'GHS',
  number: '+233241234567',
  email: 'ama@shop.example',
  name: 'Ama Mensah',
  wallet_issuer_hint: 'mtn',
  extra: { colour: 'red', table: '7' },
  payment_method: 'mtn_mobile_money',
  payment_time: after(seconds(90)),
  psp_response_code: '00',
  psp_response_msg: 'Approved',
})

const golden =
  '{"invoice_id":"A-1/7","tx_reference":"TG-1KJQ6P-VEG07N-2CA7MX","status":"paid","amount":1234.56,' +
  '"status_reason":"Thank you.","payment_method":"mtn_mobile_money","payment_time":"2026-03-02T12:01:30.000Z",' +
  '"invoice":"A-1/7","currency":"GHS","extra":{"colour":"red","table":"7","channel":"mtn_mobile_money",' +
  '"wallet_issuer_hint":"mtn","email":"ama@shop.example","mobile_no":"+233241234567",' +
  '"Mobile_no":"+233241234567","name":"Ama Mensah","card_type":null,"psp_response_code":"00",' +
  '"psp_response_msg":"Approved"}}'

test('the body, byte for byte', () => expect(notificationBody(paid, 'post')).toBe(golden))

test('a payment without an attempt has neither method nor time', () => {
  const body = JSON.parse(notificationBody(aPayment({ status: 'cancelled' }), 'post'))
  expect(body).toMatchObject({ status: 'cancelled', payment_method: null, payment_time: null })
})

for (const [minor, number, text, currency] of [
  [1n, 0.01, '0.01', 'GHS'],
  [10n, 0.1, '0.10', 'GHS'],
  [2500n, 25, '25.00', 'GHS'],
  [99_999_999_999_999n, 999_999_999_999.99, '999999999999.99', 'GHS'],
  [5000n, 5000, '5000.00', 'UGX'], // the text has two decimals whatever the currency has
  [999_999_999_999n, 999_999_999_999, '999999999999.00', 'XOF'],
] as const)
  test(`${currency} ${text} is the number ${number}, and for style basic the text`, () => {
    const payment = aPayment({ total: minor, currency })
    expect(JSON.parse(notificationBody(payment, 'post')).amount).toBe(number)
    expect(JSON.parse(notificationBody(payment, 'get')).amount).toBe(number)
    expect(notificationBody(payment, 'basic')).toContain(`"amount":"${text}"`)
  })

test('a currency that this version does not have: no notification instead of a wrong amount', () => {
  const payment = aPayment({ currency: 'XAU' as 'GHS' })
  for (const style of ipnStyles)
    expect(() => notificationBody(payment, style)).toThrow('does not know the currency XAU')
})

test('any untrusted text is unchanged in the body, in one line of valid JSON', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(text, text, fc.dictionary(text, text, { noNullPrototype: true }), (one, other, extra) => {
      const payment = aPayment({ invoice_id: one, name: other, status_reason: other, extra })
      const bytes = Buffer.from(notificationBody(payment, 'post'))
      expect(bytes.some(byte => byte < 0x20)).toBe(false)
      const body = JSON.parse(bytes.toString())
      expect(body).toMatchObject({ invoice_id: one, invoice: one, status_reason: other })
      expect(body.extra.name).toBe(other)
    }),
    { numRuns: 500 },
  )
})

test('extra fields of a merchant cannot replace fields of the gateway', () => {
  const extra = { channel: 'card', name: 'Mallory', status: 'paid', toJSON: 'x' }
  const body = JSON.parse(notificationBody(aPayment({ extra, name: 'Ama' }), 'post'))
  expect(body.status).toBe('awaiting_payment')
  expect(body.extra).toMatchObject({ channel: null, name: 'Ama', status: 'paid' })
})

for (const style of ipnStyles)
  test(`style ${style} gets every status${style === 'basic' ? ' but awaiting_payment' : ''}`, () => {
    for (const status of ['paid', 'failed', 'cancelled'] as const) expect(isSent(status, style)).toBe(true)
    expect(isSent('awaiting_payment', style)).toBe(style !== 'basic')
  })

for (const [asked, set, goes] of [
  [null, null, null],
  [null, 'https://set.example/', 'https://set.example/'],
  ['https://asked.example/', null, 'https://asked.example/'],
  ['https://asked.example/', 'https://set.example/', 'https://asked.example/'],
] as const)
  test(`request ${asked ?? 'without address'}, setting ${set ?? 'none'}: ${goes ?? 'not sent'}`, () =>
    expect(ipnUrlOf({ ipn_url: asked }, { ipn_url: set })).toBe(goes))

test('an id is read back, also in lower case', () => {
  const key = { tx_reference: 'TG-1KJQ6P-VEG07N-2CA7MX', sequence: 12 }
  expect(notificationId(key)).toBe('TG-1KJQ6P-VEG07N-2CA7MX-N12')
  expect(readNotificationId(notificationId(key))).toEqual(key)
  expect(readNotificationId(` ${notificationId(key).toLowerCase()} `)).toEqual(key)
})

for (const text of ['', 'TG-1', 'TG-1-N', '-N1', 'TG-1-N1234567', 'TG 1-N1', `${'T'.repeat(101)}-N1`])
  test(`${text.slice(0, 20) || 'nothing'} is no id`, () => expect(readNotificationId(text)).toBeUndefined())
