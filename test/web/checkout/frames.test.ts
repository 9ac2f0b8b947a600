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
  test('nobody, unless the merchant has named an origin', async () => {
    const url = await checkout(plain)
    for (const path of ['', '/cancel', '/state', '/qr.svg', '/receipt']) {
      const { headers } = await send(url + path)
      expect([path, ancestors(headers), headers.get('x-frame-options')]).toEqual([path, "'none'", 'DENY'])
    }
  })
  test('those that it has named, on every page of its payments', async () => {
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
  test('nobody frames a page that shows no payment', async () => {
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
  test('the ways out open in the whole window, and nothing leaves by itself', async () => {
    const url = await checkout(framed)
    await send(`${url}/cancel?visit=one`, { method: 'POST' })
    const page = await send(`${url}?visit=one`, inFrame)
    expect(page.text).toMatch(/<a href="https:\/\/shop.example\/basket"[^>]* target="_top"/)
    expect(page.text).not.toContain('data-go')
    expect(page.text).not.toContain('http-equiv="refresh"')
    const whole = await send(`${url}?visit=one`) // the same in a window of its own
    expect(whole.text).toContain('data-go="https://shop.example/basket"')
  })
  test('of a merchant without frames nothing changes', async () => {
    const url = await checkout(plain)
    await send(`${url}/cancel?visit=one`, { method: 'POST' })
    const { text } = await send(`${url}?visit=one`)
    expect(text).toContain('data-go="https://shop.example/basket"')
    expect(text).not.toContain('_top')
  })
  test("a card's page waits behind a link that leads out of the frame", async () => {
    const url = await checkout(framed)
    const answer = await pay(url, { payment_method: 'card' })
    expect(answer.headers.get('location')).toContain(new URL(url).pathname)
    const { text } = await send(url, inFrame)
    expect(text).toMatch(/<a class="button" href="[^"]*\/sandbox\/[^"]*"[^>]* target="_top"/)
  })
})

const led = (html: string) => /<meta http-equiv="refresh" content="0; url=([^"]+)"/.exec(html)?.[1]

// As PHP's file_get_contents does: no Accept. What comes is printed as the shop's own page.
describe("a server that prints our page as its shop's own", () => {
  test('prints a tiny page that leads the browser to us, with and without a click', async () => {
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
  test('keeps the language that was asked for', async () => {
    const url = `${await checkout(plain)}?lang=fr`
    const { text } = await ask(url)
    expect(led(text)).toBe(url)
    expect(text).toContain('Ouvrir le paiement')
  })
  test('leads by our public address, whatever it was called by', async () => {
    const url = await checkout(plain)
    expect(led((await ask(url, { host: 'inside.example' })).text)).toBe(url)
  })
  test('an empty Accept is none; any other, also */*, gets the page itself', async () => {
    const url = await checkout(plain)
    expect((await ask(url, { accept: '' })).text.length).toBeLessThan(700)
    for (const accept of ['*/*', 'text/html', 'application/json'])
      expect((await ask(url, { accept })).text).toContain('How would you like to pay?')
  })
  test('what is no address of ours is not found, as ever', async () => {
    expect((await ask(`${gateway.url}/checkout/nothing`)).http).toBe(404)
  })
})
