import { describe, expect, test } from 'vitest'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { accountAt, secretKey, sign } from './context.ts'

const providerAccount = accountAt('http://127.0.0.1:1')

const webhook = (body: string | Buffer, signature: string | undefined): Webhook => ({
  path: '',
  headers: { 'content-type': 'application/json', 'x-paystack-signature': signature },
  body: Buffer.from(body),
  address: '192.0.2.1', // not one of those that Paystack publishes
})
const heard = (told: unknown) => {
  const body = typeof told === 'string' ? told : JSON.stringify(told)
  return providerAccount.handleWebhook?.(webhook(body, sign(body)))
}

const key = 'm0m0m0m0m0m0m0m0m0m0m0m0m0m0m0m0m0m0'
const reversals = [{ idempotency_key: key, check_reversals: true }]
const transaction = { id: 1, reference: key, amount: 2500, currency: 'GHS', status: 'success' }

describe('what it is about', () => {
  for (const [event, data, news] of [
    ['charge.success', transaction, [{ idempotency_key: key }]],
    ['charge.success', { ...transaction, reference: undefined }, []],
    ['charge.success', { ...transaction, reference: 5 }, []],
    ['charge.success', { ...transaction, reference: 'x'.repeat(101) }, []],
    ['refund.pending', { transaction_reference: key, amount: '2500', currency: 'GHS' }, reversals],
    ['refund.processing', { transaction_reference: key, amount: 2500, currency: 'GHS' }, reversals],
    ['refund.needs-attention', { transaction_reference: key, id: '5' }, reversals],
    ['refund.failed', { transaction_reference: key, amount: 2500, currency: 'GHS' }, reversals],
    ['refund.processed', { transaction_reference: key, amount: '2500', currency: 'GHS' }, reversals],
    ['refund.processed', { transaction: { reference: key }, amount: 1005, currency: 'GHS' }, reversals],
    ['refund.processed', { amount: 2500, currency: 'GHS' }, []],
    ['charge.dispute.create', { refund_amount: 2500, currency: 'GHS', transaction }, reversals],
    ['charge.dispute.create', { merchant_transaction_reference: key }, reversals],
    ['charge.dispute.remind', { transaction }, reversals],
    ['charge.dispute.resolve', { transaction, resolution: 'merchant-accepted' }, reversals],
    ['charge.dispute.create', { transaction: null }, []],
    ['charge.failed', transaction, []], // which does not exist
    ['transfer.success', { reference: key }, []],
    ['transfer.failed', { reference: key }, []],
    ['invoice.create', { transaction }, []],
    ['customeridentification.success', {}, []],
    ['', transaction, []],
  ] as const) {
    test(`${event} ${JSON.stringify(data)}`, () => expect(heard({ event, data })).toEqual(news))
  }

  for (const odd of ['', 'null', '[]', '"charge.success"', '{"event":5}', '{"event":"charge.success"}', '{'])
    test(`signed, and no news: ${odd}`, () => expect(heard(odd)).toEqual([]))

  test('it never says paid, and no amount', () => {
    for (const event of ['charge.success', 'refund.processed', 'charge.dispute.create'])
      for (const news of heard({
        event,
        data: { ...transaction, transaction, transaction_reference: key },
      }) ?? [])
        expect(Object.keys(news).filter(name => name !== 'check_reversals')).toEqual(['idempotency_key'])
  })
})

describe('who sent it', () => {
  const body = JSON.stringify({ event: 'charge.success', data: { ...transaction, note: 'Akɔ́m 𝛑' } }, null, 1)
  const signature = sign(body)

  test('the bytes are signed, whatever their writing', () =>
    expect(providerAccount.handleWebhook?.(webhook(body, signature))).toEqual([{ idempotency_key: key }]))

  test('one byte that differs, anywhere', () => {
    const bytes = Buffer.from(body)
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(providerAccount.handleWebhook?.(webhook(altered, signature))).toBeUndefined()
    }
    expect(providerAccount.handleWebhook?.(webhook(`${body} `, signature))).toBeUndefined()
    expect(providerAccount.handleWebhook?.(webhook(body.slice(0, -1), signature))).toBeUndefined()
    expect(providerAccount.handleWebhook?.(webhook('', signature))).toBeUndefined()
  })

  test('one letter of the signature that differs, anywhere', () => {
    for (let at = 0; at < signature.length; at++) {
      const other = signature[at] === '0' ? '1' : '0'
      const altered = signature.slice(0, at) + other + signature.slice(at + 1)
      expect(providerAccount.handleWebhook?.(webhook(body, altered))).toBeUndefined()
    }
  })

  for (const [words, odd] of [
    ['none', undefined],
    ['an empty one', ''],
    ['half of it', signature.slice(0, 64)],
    ['more than it', `${signature}00`],
    ['in capitals', signature.toUpperCase()],
    ['with a blank', ` ${signature}`],
    ['with a line break', `${signature}\n`],
    ['no hex', 'z'.repeat(128)],
    ['of another key', sign(body, 'sk_test_of_somebody_else')],
    ['of no key', sign(body, '')],
    ['of the same words, written otherwise', sign(JSON.stringify(JSON.parse(body)))],
  ] as const)
    test(`signature: ${words}`, () =>
      expect(providerAccount.handleWebhook?.(webhook(body, odd))).toBeUndefined())

  test('a signature under another name is none', () => {
    const headers = { 'x-signature': signature, 'X-Paystack-Signature': signature }
    expect(providerAccount.handleWebhook?.({ ...webhook(body, undefined), headers })).toBeUndefined()
  })

  test('the secret key is not what signs by itself', () =>
    expect(providerAccount.handleWebhook?.(webhook(body, secretKey))).toBeUndefined())
})
