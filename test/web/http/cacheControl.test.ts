import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { newInvoice, post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { dial, get } from '../../support/gateway/rawHttp.ts'
import { asOperator } from '../../support/gateway/operatorAuth.ts'

let gateway: TestGateway
let isOverloaded = false
beforeAll(async () => void (gateway = await testGateway({}, { isOverloaded: () => isOverloaded })))
afterAll(() => gateway.stop())

const isNotKept = (headers: Headers) =>
  expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
    'no-store',
    'nosniff',
  ])

const form = (fields: Record<string, unknown>, headers = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  body: new URLSearchParams(fields as Record<string, string>).toString(),
})

// The state of payments and the data of payers must not be cached, nor be read as a page or a script.
test('answers of the interface are not cached and not sniffed: successes, refusals and unknown addresses', async () => {
  const shop = await gateway.addMerchant()
  const request = signedRequest(shop.test)
  const { merchant_key } = shop.test
  const known = new URLSearchParams({ merchant_key, invoice_id: request.invoice_id }).toString()
  const unknown = new URLSearchParams({ merchant_key, invoice_id: newInvoice() }).toString()
  const asked: [path: string, http: number, init?: RequestInit][] = [
    [`/v1/gateway/json_status_chk?${known}`, 200],
    ['/v1/gateway/json_status_chk', 200, form(Object.fromEntries(new URLSearchParams(known)))],
    [`/v1/gateway/json_status_chk?${unknown}`, 404],
    ['/v1/gateway/json_status_chk', 400],
    [`/gateway/json_status_chk?${known}`, 200],
    [`/v1/gateway/status_chk?${known}`, 200],
    [`/v1/gateway/status_chk?${unknown}`, 404],
    ['/v1/events', 400],
    ['/v1/events', 405, { method: 'POST' }],
    ['/v1/mobile_agents_v2', 405],
    ['/gateway', 303, form(signedRequest(shop.test))],
    ['/gateway', 400, form({})],
    ['/gateway', 400, form({}, { accept: 'text/html' })],
    ['/callbacks/nobody', 404, { method: 'POST' }],
    [`/callbacks/${'0'.repeat(36)}`, 200, { method: 'POST' }],
    ['/callbacks/nobody', 405],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200, { headers: asOperator }],
    ['/metrics', 403],
    ['/support', 200, { headers: asOperator }],
    ['/support', 401],
    ['/support/enter?link=x', 403],
    ['/nothing', 404],
    ['/v1/nothing', 404, { method: 'POST' }],
    ['/support%20', 400],
    ['/sandbox/provider/charges/x', 401],
  ]
  isNotKept((await post(gateway.url, request)).headers)
  isNotKept((await post(gateway.url, { ...request, total: '26.00' })).headers)
  isNotKept((await post(gateway.url, 'no JSON')).headers)
  isNotKept((await send(`${gateway.url}/v1/events?merchant_key=${merchant_key}`)).headers)
  for (const [path, http, init] of asked) {
    const answer = await send(gateway.url + path, init)
    expect([path, answer.http]).toEqual([path, http])
    isNotKept(answer.headers)
  }
})

test('nor are answers of addresses without a route', async () => {
  for (const [sent, http] of [
    ['no HTTP at all\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    [get('/readyz').repeat(20), 429], // more than may wait on one connection
  ] as const) {
    const { socket, heard, ended } = await dial(gateway.url)
    socket.write(sent)
    await ended
    const last = heard().slice(heard().lastIndexOf(`HTTP/1.1 ${http}`))
    expect(last).toMatch(new RegExp(`^HTTP/1\\.1 ${http} `))
    expect(last).toMatch(/^cache-control: no-store\r$/im)
    expect(last).toMatch(/^x-content-type-options: nosniff\r$/im)
  }
  isOverloaded = true
  const { http, headers } = await send(`${gateway.url}/docs`)
  isOverloaded = false
  expect(http).toBe(503)
  isNotKept(headers)
})

test('a response that is the same for all clients may be cached', async () => {
  for (const [path, kept] of [
    ['/public/checkout.css', 'no-cache'],
    ['/sandbox/public/sandbox.css', 'no-cache'],
    ['/openapi.json', null],
    ['/docs', 'no-cache'],
  ] as const) {
    const { headers } = await send(gateway.url + path)
    expect([path, headers.get('cache-control')]).toEqual([path, kept])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

// A browser must not show the page of a new release with the styles or scripts of the last one.
test('every style and script of a page has the digest of its content in its address, or is revalidated', async () => {
  const pages = ['/', '/docs', '/docs/quickstart', '/docs/api/initiatePayment', '/sandbox/phone']
  const files = new Set<string>()
  for (const page of pages) {
    const { http, text } = await send(gateway.url + page, { headers: { accept: 'text/html' } })
    expect([page, http]).toEqual([page, 200])
    for (const [, file = ''] of text.matchAll(/(?:src|href)="(\/[^"]+\.(?:css|js)(?:\?[^"]*)?)"/g))
      files.add(file)
  }
  for (const expected of ['/docs/docs.css', '/docs/try.js', '/sandbox/public/sandbox.css'])
    expect([...files]).toContain(expected)
  for (const file of files) {
    const { headers } = await send(gateway.url + file)
    const kept = headers.get('cache-control')
    if (file.includes('?v=')) expect([file, kept]).toEqual([file, 'public, max-age=31536000, immutable'])
    else {
      expect([file, kept]).toEqual([file, 'no-cache'])
      const again = await send(gateway.url + file, {
        headers: { 'if-none-match': headers.get('etag') ?? '' },
      })
      expect([file, again.http]).toEqual([file, 304])
      const other = await send(gateway.url + file, { headers: { 'if-none-match': '"of-another-release"' } })
      expect([file, other.http]).toEqual([file, 200])
    }
  }
})
