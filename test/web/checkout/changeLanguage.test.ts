import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

async function newCheckout(): Promise<string> {
  const { http, body, text } = await post(gateway.url, signedRequest(shop.test, {}))
  assert.equal(http, 200, text)
  return body.checkout_url
}

const sendForm = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(url, { method: 'POST', headers, body: new URLSearchParams(fields) })

const typed = {
  number: '1',
  payment_method: 'telecel_cash',
  'telecel_cash.phone': '020 12',
  'telecel_cash.voucher_code': 'not yet"><script>',
  'mtn_mobile_money.phone': '0244',
}

const attempts = async (url: string) =>
  (
    await gateway.db.rows(sql`select 1 from attempts join payments using (merchant_id, tx_reference)
      where tx_token = ${url.split('/').at(-1)}`)
  ).length

describe('the form in another language', () => {
  test('keeps the input and the choice, validates nothing and starts nothing', async () => {
    const url = await newCheckout()
    const { http, text } = await sendForm(`${url}/words?lang=fr&visit=one`, typed)
    expect(http).toBe(200)
    expect(text).toContain('<html lang="fr"')
    expect(text).toContain('Comment souhaitez-vous payer')
    expect(text).toMatch(/id="telecel_cash" value="telecel_cash" checked/)
    expect(text).toContain('name="telecel_cash.phone" value="020 12"')
    expect(text).toContain('name="telecel_cash.voucher_code" value="not yet&quot;&gt;&lt;script&gt;"')
    expect(text).toContain('name="mtn_mobile_money.phone" value="0244"')
    expect(text).not.toMatch(/class="fault"|role="alert"|aria-invalid/)
    expect(text).toContain('/pay?lang=fr&amp;visit=one')
    expect(await attempts(url)).toBe(0)
  })

  test('can be changed back, without input and choice', async () => {
    const url = await newCheckout()
    const { http, text } = await sendForm(`${url}/words?lang=en`, { number: '1' })
    expect(http).toBe(200)
    expect(text).toContain('How would you like to pay?')
    expect(text).not.toMatch(/ checked|class="fault"/)
  })

  test('has no personal data in any address', async () => {
    const { text } = await sendForm(`${await newCheckout()}/words?lang=fr`, typed)
    for (const [, address] of text.matchAll(/(?:href|action|formaction|src|content)="([^"]*)"/g))
      expect(address).not.toMatch(/020(?: |\+|%20)12|=0244|phone|voucher/) // a token may have any letters
  })

  test('redirects to the payment after a reload, or if the payment has another stage', async () => {
    const url = await newCheckout()
    const home = `${new URL(url).pathname}?lang=fr`
    expect((await send(`${url}/words?lang=fr`)).headers.get('location')).toBe(home)
    await sendForm(`${url}/pay`, {
      number: '1',
      payment_method: 'mtn_mobile_money',
      'mtn_mobile_money.phone': '0244123456',
    })
    const waiting = await sendForm(`${url}/words?lang=fr`, typed)
    expect([waiting.http, waiting.headers.get('location')]).toEqual([303, home])
    expect(await attempts(url)).toBe(1)
  })

  test('refuses forms of other sites', async () => {
    const url = `${await newCheckout()}/words?lang=fr`
    expect((await sendForm(url, typed, { 'sec-fetch-site': 'cross-site' })).http).toBe(403)
    expect((await sendForm(url, { 'mtn_mobile_money.phone': 'x'.repeat(70_000) })).http).toBe(413)
    expect((await sendForm(`${gateway.url}/checkout/nothing/words`, typed)).http).toBe(404)
  })
})
