import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setLogo } from '../../../src/actions/merchants/logos.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { sql } from '../../../src/store/db.ts'
import { findLogo, removeLogo } from '../../../src/store/merchants/merchants.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { plainJpeg, plainPng } from '../../support/merchant/pictures.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await testGateway()))
afterAll(() => gateway.stop())

async function newCheckout(shop: TestMerchant, fields: Record<string, unknown> = {}): Promise<string> {
  const { http, body, text } = await post(gateway.url, signedRequest(shop.test, fields))
  assert.equal(http, 200, text)
  return body.checkout_url
}

async function showsLogo({ merchant_id }: TestMerchant, picture: Buffer) {
  const logo = await setLogo(gateway.db, merchant_id, picture, new Date())
  assert(typeof logo !== 'string', String(logo))
  return `/public/logos/${merchant_id}/${logo.digest}.${logo.type === 'png' ? 'png' : 'jpg'}`
}

const stylesIn = (html: string) =>
  [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, at]) => at ?? '')

// Addresses that do not exist.
for (const path of [
  '/public/accent/ffcc00.css', // white cannot be read on it
  '/public/accent/5B21B6.css',
  '/public/accent/5b21b6',
  '/public/accent/5b21b6.css.css',
  '/public/accent/..%2f5b21b6.css',
  '/public/accent/5b21b6;}.css',
  '/public/accent/',
  '/public/logos/',
  '/public/logos/nobody0000/0123456789abcdef0123456789abcdef.png',
  '/public/logos/%00/0123456789abcdef0123456789abcdef.png',
  "/public/logos/x'or'1/0123456789abcdef0123456789abcdef.png",
])
  test(`${path} is not found`, async () => {
    const { http } = await send(gateway.url + path)
    expect(http).toBe(/[%;]/.test(path) ? 400 : 404) // odd addresses are refused before they are looked at
  })

test('an accent is a small additional stylesheet', async () => {
  const shop = await gateway.addMerchant('accent=#5B21B6')
  const url = await newCheckout(shop)
  const [own = '', accent = '', ...more] = stylesIn((await send(url)).text)
  expect(own).toMatch(/^\/public\/checkout\.css\?v=/)
  expect(accent).toMatch(/^\/public\/accent\/5b21b6\.css\?v=[0-9a-f]{10}$/)
  expect(more).toEqual([])
  const { http, headers, text } = await send(gateway.url + accent)
  expect(http).toBe(200)
  expect(headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(text).toContain('--accent:#5b21b6')
  expect(text.length).toBeLessThan(400)
})

test('the stylesheet of another version is not cached', async () => {
  for (const path of ['/public/accent/5b21b6.css', '/public/accent/5b21b6.css?v=0123456789'])
    expect((await send(gateway.url + path)).headers.get('cache-control')).toBe('no-cache')
})

test('a shop without an accent loads no additional stylesheet', async () => {
  expect(stylesIn((await send(await newCheckout(await gateway.addMerchant()))).text)).toHaveLength(1)
})

for (const [type, picture] of [
  ['image/png', plainPng()],
  ['image/jpeg', plainJpeg()],
] as const)
  test(`a logo of ${type} is served with the stored bytes`, async () => {
    const shop = await gateway.addMerchant()
    const answer = await fetch(gateway.url + (await showsLogo(shop, picture)))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(type)
    const stored = await findLogo(gateway.db, shop.merchant_id)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(stored?.bytes)
  })

test('a logo is served as a picture only, and may be cached for a year', async () => {
  const { headers } = await send(gateway.url + (await showsLogo(await gateway.addMerchant(), plainPng())))
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('set-cookie')).toBeNull()
})

test('a new logo has a new address; the old address, another type and a removed logo are not found', async () => {
  const shop = await gateway.addMerchant()
  const other = await gateway.addMerchant()
  const old = await showsLogo(shop, plainPng(64))
  const now = await showsLogo(shop, plainPng(65))
  expect(now).not.toBe(old)
  const at = async (path: string) => (await send(gateway.url + path)).http
  expect([await at(old), await at(now)]).toEqual([404, 200])
  expect(await at(now.replace('.png', '.jpg'))).toBe(404)
  expect(await at(now.replace(shop.merchant_id, other.merchant_id))).toBe(404)
  await removeLogo(gateway.db, shop.merchant_id)
  expect(await at(now)).toBe(404)
})

test('a page ignores settings that cannot be read', async () => {
  const shop = await gateway.addMerchant()
  const url = await newCheckout(shop)
  const odd = {
    accent: '#ffcc00',
    support_phone: 'x',
    support_email: 7,
    terms_url: 'javascript:alert(1)',
    refund_policy: [],
  }
  await gateway.db.rows(
    sql`update merchants set settings = ${JSON.stringify(odd)} where merchant_id = ${shop.merchant_id}`,
  )
  const { http, text } = await send(url)
  expect(http).toBe(200)
  expect(stylesIn(text)).toHaveLength(1)
  expect(text).not.toContain('javascript:')
})

test('a change takes effect within a second, also on open pages', async () => {
  const shop = await gateway.addMerchant()
  const url = await newCheckout(shop)
  await setMerchant(gateway.db, shop.merchant_id, ['accent=#5b21b6'])
  await sleep(1000)
  expect(stylesIn((await send(url)).text)).toHaveLength(2)
})

const order = [
  { name: 'Jollof, large', quantity: 2, total: '1060.00' },
  { name: 'Kelewele <b>', total: 15 },
  { name: 'Delivery, Osu', total: 10 },
]

test('the page lists the items and their sum', async () => {
  const { text } = await send(
    await newCheckout(await gateway.addMerchant(), { total: '1085.00', line_items: order }),
  )
  const [list = ''] = /<ul class="items".*?<\/ul>/s.exec(text) ?? []
  const lines = [...list.matchAll(/<li.*?<\/li>/gs)].map(([line]) =>
    line
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  expect(lines).toEqual([
    '2 × Jollof, large 1,060.00',
    'Kelewele &lt;b&gt; 15.00',
    'Delivery, Osu 10.00',
    'Total GHS 1,085.00',
  ])
})

test('an invalid list in the database is left out', async () => {
  const shop = await gateway.addMerchant()
  const url = await newCheckout(shop, { total: '1085.00', line_items: order })
  await gateway.db.rows(
    sql`update payments set line_items = '[{"name":7}]' where merchant_id = ${shop.merchant_id}`,
  )
  const { http, text } = await send(url)
  expect(http).toBe(200)
  expect(text).not.toContain('class="items"')
})

const marks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

test('bidi controls are removed from all texts of the shop', async () => {
  const shop = await gateway.addMerchant()
  const turned = 'Bank\u202eknaB\u2066x\u200fy\u061c'
  await gateway.db.rows(sql`update merchants set name = ${turned} where merchant_id = ${shop.merchant_id}`)
  const url = await newCheckout(shop, { description: turned, line_items: [{ name: turned, total: '25.00' }] })
  for (const path of ['', '/cancel']) {
    const { text } = await send(url + path)
    expect(text).toContain('BankknaBxy')
    expect(text).not.toMatch(marks)
  }
})
