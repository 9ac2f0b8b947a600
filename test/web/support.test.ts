import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { testOperatorAuth } from '../support/gateway/operatorAuth.ts'
import { ask as get, basic } from '../support/gateway/rawHttp.ts'
import { type SupportSite, supportSite } from '../support/gateway/supportSite.ts'
import { after, minutes, no, pending, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

const token = 'pass:word with 16+'
const nasty = `<script>alert(1)</script>"'&`
const sites: SupportSite[] = []
let shop: TestShop
let merchant: TestMerchant
let payment: Payment
let open: string // without a token
let guarded: string

async function serve(runtime: Parameters<typeof supportSite>[0], door = testOperatorAuth()): Promise<string> {
  const site = await supportSite(runtime, door)
  sites.push(site)
  return site.url
}

const look = (word: string) => get(`${open}/support?${new URLSearchParams({ q: word }).toString()}`)

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(after(-minutes(5), new Date()))
  merchant = await shop.addMerchant(`Ama ${nasty}`)
  payment = await shop.ask(merchant, {
    invoice_id: 'AMA-1',
    name: nasty,
    description: nasty,
    number: '0241234567',
    email: 'ama@shop.example',
  })
  await shop.try(payment, { state: 'unknown', words: `${nasty} 233241234567` })
  payment = await shop.hear(payment, no)
  shop.setNow(new Date())
  open = await serve(shop.runtime)
  guarded = await serve(shop.runtime, testOperatorAuth(token))
})
afterAll(async () => {
  for (const site of sites) site.stop()
  await shop.stop()
})

describe('the token is always needed', () => {
  const wrong: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['another password', basic('ama:nope')],
    ['a part of it', basic(`ama:${token.slice(0, -1)}`)],
    ['the token as the name', basic(`${token}:`)],
    ['an empty password', basic('ama:')],
    ['what is no base64', { authorization: 'Basic %%%' }],
    ['another scheme', { authorization: `Digest ${token}` }],
    ['a bearer token that is wrong', { authorization: `Bearer ${token}x` }],
    ['a cookie that is none', { cookie: `tollgate_support=${token}; tollgate_support=1.x` }],
  ]
  for (const [what, headers] of wrong)
    test(`${what} is refused, also from this machine`, async () => {
      for (const path of ['', '?q=AMA-1', '/receipt']) {
        const got = await get(`${guarded}/support${path}`, headers)
        expect(got.http).toBe(401)
        expect(got.headers['www-authenticate']).toBe('Basic realm="Tollgate support", charset="UTF-8"')
        expect(got.text).not.toContain(payment.tx_reference)
        expect(got.text).not.toContain(token)
      }
    })
  for (const name of ['ama', '', 'Kofi Ä'])
    test(`it opens the page, with the user name "${name}"`, async () => {
      const headers = { ...basic(`${name}:${token}`), 'x-forwarded-for': '203.0.113.9', host: 'pay.example' }
      const { http, text } = await get(`${guarded}/support?q=AMA-1`, headers)
      expect(http).toBe(200)
      expect(text).toContain(payment.tx_reference)
    })
})

test('while an address is over its limit its passwords are not checked; later the right one is accepted', async () => {
  let now = 0
  const url = await serve(
    shop.runtime,
    testOperatorAuth(token, () => now),
  )
  const show = async (password: string) => (await get(`${url}/support`, basic(`ama:${password}`))).http
  for (let n = 0; n < 20; n++) expect(await show(`guess ${n}`)).toBe(401)
  for (let n = 0; n < 280; n++) expect(await show(`guess ${n}`)).toBe(429)
  const { http, headers, text } = await get(`${url}/support?q=AMA-1`, basic(`ama:${token}`))
  expect([http, headers['retry-after'], headers['cache-control']]).toEqual([429, '1', 'no-store'])
  expect(text).toContain('Too many wrong passwords came from your address')
  expect(text).not.toContain(payment.tx_reference)
  now += 1000 // whoever waited for Retry-After
  expect(await show(token)).toBe(200)
  expect(await show(token)).toBe(200) // the right one takes nothing
  expect(await show('guess')).toBe(401)
  expect(await show(token)).toBe(429)
})

const fail = () => Promise.reject(new Unavailable(new Error('gone')))

describe('an unknown payment gets a helpful page', () => {
  for (const word of ['NOPE', nasty, 'A\0', '\u202e', '%', 'x'.repeat(3000), 'TG-000000-000000-000000'])
    test(JSON.stringify(word.slice(0, 40)), async () => {
      const { http, text } = await look(word)
      expect(http).toBe(404)
      expect(text).toContain('We find no payment like that')
      expect(text).not.toContain('<script')
    })
  test('an unknown merchant', async () => {
    expect((await get(`${open}/support?q=AMA-1&merchant=nobody`)).http).toBe(404)
    expect((await get(`${open}/support?q=AMA-1&merchant=%00`)).http).toBe(404)
  })
  test('database unavailable', async () => {
    const url = await serve({ ...shop.runtime, db: { ...shop.db, rows: fail, one: fail } })
    const { http, headers, text } = await get(`${url}/support?q=AMA-1`)
    expect([http, headers['retry-after']]).toEqual([503, '5'])
    expect(text).toContain('The database is unavailable')
  })
})

test('the empty form asks what to look up', async () => {
  for (const path of ['', '/', '?q=', '?q=%20']) {
    const { http, text } = await get(`${open}/support${path}`)
    expect(http).toBe(200)
    expect(text).toMatch(/<label for="q">Look up a payment or a request<\/label>/)
  }
})

test('a payment shows its facts, its timeline and what happens next', async () => {
  for (const word of ['AMA-1', payment.tx_reference, ` ${payment.tx_reference.toLowerCase()} `]) {
    const { http, text } = await look(word)
    expect(http).toBe(200)
    for (const words of [
      'GHS 25.00',
      'failed',
      'Chose MTN MoMo, 024 ••• 4567 (attempt 1)',
      'No to attempt 1: Not enough money in the account.',
      'We ask again about attempt 1',
      'until then the customer may try again',
      payment.tx_reference,
    ])
      expect(text).toContain(words)
  }
})

test('no page runs a script, is cached or leaks its address', async () => {
  const { headers, text } = await look('AMA-1')
  expect(text).not.toMatch(/<script|javascript:|\son\w+=|style=/i)
  for (const hidden of [payment.tx_token, '41234567', 'shop.example']) expect(text).not.toContain(hidden)
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
})

test('several payments with one invoice id are listed with shop and mode, and each can be opened', async () => {
  const kofi = await shop.addMerchant('Kofi')
  await shop.ask(merchant, { invoice_id: 'SAME' })
  await shop.ask(merchant, { invoice_id: 'SAME' }, 'test')
  const third = await shop.ask(kofi, { invoice_id: 'SAME' })
  await shop.ask(kofi, { invoice_id: third.tx_reference }) // looks like the reference of another
  const { http, text } = await look('SAME')
  expect(http).toBe(200)
  expect(text).toContain('3 payments for SAME')
  for (const words of ['Kofi', 'GHS 25.00', 'Awaiting payment', '(test)']) expect(text).toContain(words)
  const links = [...text.matchAll(/href="(\/support\?[^"]+)"/g)].map(match => match[1]?.replace('&amp;', '&'))
  expect(links).toHaveLength(3)
  for (const link of links) expect((await get(`${open}${link}`)).text).toContain('What happened')
})

test('a test payment is marked', async () => {
  const tried = await shop.try(await shop.ask(merchant, {}, 'test'), pending)
  expect((await look(tried.tx_reference)).text).toContain('Test mode: no real money moves')
})

const light = (hex = '') => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (one?: string, other?: string) => {
  const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b)
  return (bright + 0.05) / (dark + 0.05)
}

describe('colours have enough contrast, light and dark', () => {
  const css = readFileSync('src/core/markup/tokens.css', 'utf8')
  const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(
    match =>
      new Map([...(match[1] ?? '').matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(pair => [pair[1], pair[2]])),
  )
  const pairs: [string, string, number][] = [
    ['ink', 'background', 4.5],
    ['ink', 'card', 4.5],
    ['muted', 'card', 4.5],
    ['accent', 'card', 4.5],
    ['bad', 'card', 4.5],
    ['on-accent', 'accent', 4.5],
    ['warn', 'warn-soft', 4.5],
    ['edge', 'card', 3],
    ['edge', 'background', 3],
    ['focus', 'background', 3],
    ['focus', 'card', 3],
  ]
  test('there are two schemes', () => expect(schemes).toHaveLength(2))
  for (const [one, other, least] of pairs)
    test(`${one} on ${other}`, () => {
      for (const scheme of schemes)
        expect(contrast(scheme.get(one), scheme.get(other))).toBeGreaterThanOrEqual(least)
    })
})

test('a refund is listed among the notifications, and is not sent', async () => {
  const bought = await shop.ask(merchant, { invoice_id: 'AMA-2' })
  await shop.try(bought, { state: 'pending' })
  const reversals = [{ id: '7', amount: 500n, words: 'Refund 7.' }]
  await shop.hear(bought, yes)
  await shop.hear(bought, { ...yes, reversals })
  const { text } = await look('AMA-2')
  expect(text).toContain('In the feed only: it is no change of the status.')
  expect(text).toContain('the provider refunded GHS 5.00')
  expect(text.match(/Send notification \d again/g)).toEqual(['Send notification 1 again'])
})

test('no page shows a bidi control of a customer, a shop, a provider or the search', async () => {
  const marks = '\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u206a'
  const shady = await shop.addMerchant(`Kofi ${marks}pohS`)
  const asked = await shop.ask(shady, { name: `Kofi${marks}`, description: `Hats${marks}diap` })
  await shop.try(asked, { state: 'unknown', words: `busy${marks}` })
  await shop.db.rows(
    sql`update payments set status_reason = ${`why${marks}`} where tx_reference = ${asked.tx_reference}`,
  )
  for (const word of [asked.tx_reference, `NOPE${marks}`]) {
    const { text } = await look(word)
    expect(text).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/)
  }
  expect((await look(asked.tx_reference)).text).toContain('Hats')
})
