import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let open: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  open = await gateway.addMerchant('unsigned_requests=on')
})
afterAll(() => gateway.stop())

const fields = (request: object) => new URLSearchParams(request as Record<string, string>)
const withoutUrlFlag = (merchant: TestMerchant, more = {}) => {
  const { generate_checkout_url: _, ...request } = signedRequest(merchant.test, more)
  return request
}
const unsigned = (merchant: TestMerchant) => {
  const { secure_hash: _, ...request } = withoutUrlFlag(merchant)
  return request
}

for (const path of ['/gateway', '/gateway/checkout']) {
  test(`a form posted to ${path} leads to the checkout page, by POST and by GET`, async () => {
    const request = withoutUrlFlag(shop, {
      extra_name: 'Ama',
      extra_mobile: '0241234567',
      extra_email: 'a@b.cd',
    })
    const posted = await send(gateway.url + path, { method: 'POST', body: fields(request) })
    const got = await send(`${gateway.url}${path}?${fields(request).toString()}`)
    for (const answer of [posted, got]) {
      expect(answer.http).toBe(303)
      expect(answer.headers.get('location')).toMatch(new RegExp(`^${gateway.url}/checkout/[0-9a-z]{42}$`))
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    }
    expect(got.headers.get('location')).toBe(posted.headers.get('location'))
  })

  test(`JSON sent to ${path} gets the JSON answer`, async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(withoutUrlFlag(shop))
    const answer = await send(gateway.url + path, { method: 'POST', headers, body })
    expect(answer.http).toBe(200)
    expect(answer.body.checkout_url).toContain('/checkout/')
  })

  test(`${path} takes unsigned forms only where the merchant allows it`, async () => {
    const taken = await send(gateway.url + path, { method: 'POST', body: fields(unsigned(open)) })
    expect(taken.http).toBe(303)
    const refused = await send(gateway.url + path, { method: 'POST', body: fields(unsigned(shop)) })
    expect(refused.http).toBe(401)
    expect(refused.body.error.code).toBe('GW-010')
  })
}

test('a browser gets a page with the error, its code and the request id, and no script runs', async () => {
  const request = { ...unsigned(shop), invoice_id: '<script>alert(1)</script>', name: '<b>' }
  const headers = { accept: 'text/html,*/*' }
  const answer = await send(`${gateway.url}/gateway`, { method: 'POST', headers, body: fields(request) })
  expect(answer.http).toBe(401)
  expect(answer.text).toContain('GW-010')
  expect(answer.text).toContain(answer.headers.get('x-request-id'))
  expect(answer.text).not.toContain('<script')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
})
