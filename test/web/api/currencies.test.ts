import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { type Answer, newInvoice, post, send, signedRequest } from '../../support/merchant/merchant.ts'

// The hash does not cover the currency, and at the form door it passes through the customer's hands: 25 euros must not
// become 25 cedis on the way.
let gateway: TestGateway
let cedis: TestMerchant
let euros: TestMerchant
let both: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  cedis = await gateway.addMerchant('unsigned_requests=on')
  euros = await gateway.addMerchant('currencies=EUR', 'unsigned_requests=on')
  both = await gateway.addMerchant('currencies=USD, GHS', 'unsigned_requests=on')
})
afterAll(() => gateway.stop())

type Fields = Record<string, unknown>
const words = (fields: Fields) => new URLSearchParams(fields as Record<string, string>)
const asJson = (fields: Fields) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(fields),
})
const wallet = { pymt_instrument: '0241234999', extra_wallet_issuer_hint: 'mtn' }
const without = (fields: Fields, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))
const direct = (fields: Fields) => ({ ...without(fields, 'generate_checkout_url'), ...wallet })
const unsigned = (fields: Fields) => without(fields, 'secure_hash')

const doors: [string, (fields: Fields) => Promise<Answer>][] = [
  ['the interface, JSON', fields => post(gateway.url, fields)],
  [
    'the interface, form',
    fields => post(gateway.url, words(fields).toString(), 'application/x-www-form-urlencoded'),
  ],
  ['direct', fields => post(gateway.url, direct(fields))],
  ['direct, unsigned', fields => post(gateway.url, unsigned(direct(fields)))],
  ['form', fields => send(`${gateway.url}/gateway`, { method: 'POST', body: words(fields) })],
  [
    'form, unsigned',
    fields => send(`${gateway.url}/gateway`, { method: 'POST', body: words(unsigned(fields)) }),
  ],
  ['form, JSON', fields => send(`${gateway.url}/gateway/checkout`, asJson(fields))],
  ['link', fields => send(`${gateway.url}/gateway?${words(fields).toString()}`)],
  ['link, unsigned', fields => send(`${gateway.url}/gateway/checkout?${words(unsigned(fields)).toString()}`)],
]

const currencyOf = async (merchant: TestMerchant, invoice_id: string) =>
  (
    await gateway.db.one<{ currency: string }>(sql`
      select currency from payments where merchant_id = ${merchant.merchant_id} and invoice_id = ${invoice_id}`)
  )?.currency

for (const [door, ask] of doors)
  describe(door, () => {
    for (const [name, shop, currency, takes] of [
      ['euros become cedis', () => euros, 'GHS', 'EUR'],
      ['euros become nothing', () => euros, undefined, 'EUR'],
      ['cedis become euros', () => cedis, 'EUR', 'GHS'],
      ['one of two becomes a third', () => both, 'GBP', 'USD or GHS'],
      ['a currency that nobody knows', () => both, 'XAU', 'USD or GHS'],
      ['a currency in small letters', () => cedis, 'ghs', 'GHS'],
    ] as const)
      test(`refused: ${name}`, async () => {
        const invoice_id = newInvoice()
        const answer = await ask(signedRequest(shop().test, { invoice_id, ...(currency && { currency }) }))
        expect(answer.http).toBe(400)
        expect(answer.body.error).toMatchObject({ code: 'GW-012', field: 'currency' })
        expect(answer.body.error.message).toContain(`this merchant takes ${takes}`)
        expect(await currencyOf(shop(), invoice_id)).toBeUndefined()
      })

    for (const [name, shop, currency, stored] of [
      ['its own', () => euros, 'EUR', 'EUR'],
      ['GHS by default', () => cedis, undefined, 'GHS'],
      ['either of two', () => both, 'USD', 'USD'],
      ['GHS by default, where another is first', () => both, undefined, 'GHS'],
    ] as const)
      test(`taken: ${name}`, async () => {
        const invoice_id = newInvoice()
        const answer = await ask(signedRequest(shop().test, { invoice_id, ...(currency && { currency }) }))
        expect(answer.http).toBeLessThan(400)
        expect(await currencyOf(shop(), invoice_id)).toBe(stored)
      })
  })
