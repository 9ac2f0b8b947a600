import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../src/core/payment/payment.ts'
import { newRequestId } from '../../src/runtime/ids.ts'
import { addRefusedRequests } from '../../src/store/requestLog.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { ask as get } from '../support/gateway/rawHttp.ts'
import { type SupportSite, supportSite } from '../support/gateway/supportSite.ts'
import { no, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

const nasty = `<script>alert(1)</script>"'&`
const request_id = newRequestId()
let shop: TestShop
let site: SupportSite
let merchant: TestMerchant
let paid: Payment

beforeAll(async () => {
  shop = await openShop()
  site = await supportSite(shop.runtime)
})
afterAll(async () => {
  site.stop()
  await shop.stop()
})

const look = (text: string) => get(`${site.url}/support?${new URLSearchParams({ q: text }).toString()}`)

test('without payments the first page says what it is for', async () => {
  const { http, text } = await get(`${site.url}/support`)
  expect(http).toBe(200)
  expect(text).toContain('There is no payment yet')
})

test('the first page has the latest payments, each with its status in words and masked', async () => {
  merchant = await shop.addMerchant(`Ama ${nasty}`)
  const customer = { number: '0244123456', email: 'esi@mail.example' }
  paid = await shop.try(await shop.ask(merchant, { invoice_id: 'PAID-1', ...customer }), {
    ...yes,
    provider_ref: 'MP-77',
  })
  await shop.try(await shop.ask(merchant, { invoice_id: 'FAILED-1', ...customer }, 'test'), no)
  await shop.ask(merchant, { invoice_id: 'OPEN-1', email: 'kwame@mail.example' })
  const { http, text } = await get(`${site.url}/support`)
  expect(http).toBe(200)
  const places = ['OPEN-1', 'FAILED-1', 'PAID-1'].map(invoice => text.indexOf(`>${invoice}<`))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  for (const words of [
    'Latest payments',
    'Awaiting payment',
    'Failed',
    'Paid',
    'GHS 25.00',
    '(test)',
    '024 ••• 3456',
    'k••@••',
  ])
    expect(text).toContain(words)
  expect(text).not.toMatch(/<script|44123456|esi@|kwame@/)
})

test('a number finds several payments, and each can be opened', async () => {
  const { http, text } = await look('0244123456')
  expect(http).toBe(200)
  expect(text).toContain('2 payments for 0244123456')
  const links = [...text.matchAll(/href="(\/support\?[^"]+)"/g)].map(match => match[1]?.replace('&amp;', '&'))
  expect(links).toHaveLength(2)
  for (const link of links) expect((await get(`${site.url}${link}`)).text).toContain('What happened')
})

test('what means one payment shows it', async () => {
  for (const text of [
    'MP-77',
    paid.tx_reference,
    'PAID-1',
    `https://pay.example/checkout/${paid.tx_token}`,
  ]) {
    const found = await look(text)
    expect(found.http).toBe(200)
    expect(found.text).toContain(paid.tx_reference)
    expect(found.text).toContain('What happened')
  }
})

test('a request id shows why the request was refused, without running what it sent', async () => {
  await addRefusedRequests(shop.db, [
    {
      merchant_id: merchant.merchant_id,
      mode: 'test',
      request_id,
      refused_at: new Date(),
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 400,
      code: 'GW-012',
      field: 'total',
      message: `total: ${nasty}`,
      hint: { likely_mistake: nasty },
      fields: { invoice_id: nasty, number: '024 ••• 3456' },
    },
  ])
  for (const typed of [request_id, ` ${request_id} `]) {
    const { http, text } = await look(typed)
    expect(http).toBe(200)
    for (const words of [
      'This request was refused',
      'GW-012',
      request_id,
      '/v1/mobile_agents_v2',
      '024 ••• 3456',
    ])
      expect(text).toContain(words)
    expect(text).not.toContain('<script')
  }
})

test('an unknown request id gets a page that says which requests are kept', async () => {
  for (const typed of ['req_0000000000000000', 'req_', `req_${nasty}`]) {
    const { http, text } = await look(typed)
    expect(http).toBe(404)
    expect(text).toContain('We find no refused request like that')
    expect(text).not.toContain('<script')
  }
})
