import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { ask } from '../../support/gateway/rawHttp.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let plain: TestMerchant
let framed: TestMerchant
const origins = ['https://shop.example', 'http://localhost:3000']
beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  plain = await gateway.addMerchant()
  framed = await gateway.addMerchant(`frame_origins=${origins.join(', ')}`)
})
afterAll(() => gateway.stop())

const urls = { success_url: 'https://shop.example/thanks', cancelled_url: 'https://shop.example/basket' }
const checkout = async (merchant: TestMerchant): Promise<string> =>
  (await post(gateway.url, signedRequest(merchant.test, urls))).body.checkout_url

const inFrame = { headers: { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' } }
const ancestors = (headers: Headers) =>
  /frame-ancestors ([^;]*);/.exec(headers.get('content-security-policy') ?? '')?.[1]

describe('who may frame the checkout', () => {
  test('no site, unless the merchant has named an origin', async () => {
    const url = await checkout(plain)
    for (const path of ['', '/cancel', '/state', '/qr.svg', '/receipt']) {
      const { headers } = await send(url + path)
      expect([path, ancestors(headers), headers.get('x-frame-options')]).toEqual([path, "'none'", 'DENY'])
    }
  })
  test("the named origins, on every page of the merchant's payments", async () => {
    const url = await checkout(framed)
    for (const path of ['', '/cancel', '/state', '/receipt', '/pay']) {
      const { headers } = await send(url + path, inFrame)
      expect([path, ancestors(headers), headers.get('x-frame-options')]).toEqual([
        path,
        origins.join(' '),
        null,
      ])
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    }
  })
  test('no site may frame a page without a payment', async () => {
    for (const path of ['/checkout/nothing', `/checkout/${'0'.repeat(42)}`, '/gateway?total=5']) {
      const { headers } = await send(gateway.url + path, { headers: { accept: 'text/html' } })
      expect([path, ancestors(headers), headers.get('x-frame-options')]).toEqual([path, "'none'", 'DENY'])
    }
  })
})

const pay = (url: string, fields: Record<string, string>) =>
  send(`${url}/pay`, {
    method: 'POST',
    headers: { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ number: '1', ...fields }),
  })

describe('in a frame', () => {
  test('links to other sites open in the whole window, and nothing redirects', async () => {
    const url = await checkout(framed)
    await send(`${url}/cancel?visit=one`, { method: 'POST' })
    const page = await send(`${url}?visit=one`, inFrame)
    expect(page.text).toMatch(/<a href="https:\/\/shop.example\/basket"[^>]* target="_top"/)
    expect(page.text).not.toContain('data-go')
    expect(page.text).not.toContain('http-equiv="refresh"')
    const whole = await send(`${url}?visit=one`) // the same in a window of its own
    expect(whole.text).toContain('data-go="https://shop.example/basket"')
  })
  test('the pages of a merchant without frames redirect', async () => {
    const url = await checkout(plain)
    await send(`${url}/cancel?visit=one`, { method: 'POST' })
    const { text } = await send(`${url}?visit=one`)
    expect(text).toContain('data-go="https://shop.example/basket"')
    expect(text).not.toContain('_top')
  })
  test('the card page is a link that opens in the whole window', async () => {
    const url = await checkout(framed)
    const answer = await pay(url, { payment_method: 'card' })
    expect(answer.headers.get('location')).toContain(new URL(url).pathname)
    const { text } = await send(url, inFrame)
    expect(text).toMatch(/<a class="btn wide big" href="[^"]*\/sandbox\/[^"]*"[^>]* target="_top"/)
  })
})

const led = (html: string) => /<meta http-equiv="refresh" content="0; url=([^"]+)"/.exec(html)?.[1]

// PHP's file_get_contents sends no Accept header. The shop shows the response as its own page.
describe('a server that shows our page as its own', () => {
  test('gets a small page that redirects the browser, with and without a click', async () => {
    const url = await checkout(plain)
    const { http, headers, text } = await ask(url)
    expect([http, headers['content-type']]).toEqual([200, 'text/html; charset=UTF-8'])
    expect(led(text)).toBe(url)
    expect(text).toContain(`<a href="${url}" target="_top">Open the payment</a>`)
    expect(text).not.toContain('<script')
    expect(text).not.toMatch(/(?:href|src)="\//) // nothing that would be looked for at the shop
    expect(text.length).toBeLessThan(700)
    const browser = await send(led(text) ?? '', { headers: { accept: 'text/html' } })
    expect(browser.text).toContain('How would you like to pay?')
  })
  test('keeps the requested language', async () => {
    const url = `${await checkout(plain)}?lang=fr`
    const { text } = await ask(url)
    expect(led(text)).toBe(url)
    expect(text).toContain('Ouvrir le paiement')
  })
  test('redirects to the public address, whatever the Host header is', async () => {
    const url = await checkout(plain)
    expect(led((await ask(url, { host: 'inside.example' })).text)).toBe(url)
  })
  test('an empty Accept is none; any other, also */*, gets the page itself', async () => {
    const url = await checkout(plain)
    expect((await ask(url, { accept: '' })).text.length).toBeLessThan(700)
    for (const accept of ['*/*', 'text/html', 'application/json'])
      expect((await ask(url, { accept })).text).toContain('How would you like to pay?')
  })
  test('an invalid token is still not found', async () => {
    expect((await ask(`${gateway.url}/checkout/nothing`)).http).toBe(404)
  })
})
