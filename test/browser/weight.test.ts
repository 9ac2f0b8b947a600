import { statSync } from 'node:fs'
import { request } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setLogo } from '../../src/actions/merchants/logos.ts'
import { minifyCss, readCheckoutStyles } from '../../src/web/documents/documents.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { speckledPng } from '../support/merchant/pictures.ts'
import { shopOf, shopOrigin } from '../support/checkout/stages.ts'
import { openEveryPage, type EveryPage } from '../support/browser/everyPage.ts'

const maxBytes = 14_336 // what a server may send before it hears back: ten packets
const maxDeskBytes = 18_432 // with the code to go on by phone
const maxScriptBytes = 5_000
const logoBytes = 4_096
// A headless browser does not load the icon; those of customers do.
const iconBytes = statSync(new URL('../../src/web/public/icon.svg', import.meta.url)).size

declare const CSSStyleSheet: any // the functions given to evaluate() run in the browser

let stages: EveryPage
let browser: TestBrowser

beforeAll(async () => {
  ;[stages, browser] = await Promise.all([openEveryPage(), openBrowser()])
})

afterAll(async () => {
  await browser?.close()
  await stages?.stop()
})

const stage = (name: string) => {
  const found = stages.all.find(one => one.name === name)
  if (!found) throw new Error(`no stage ${name}`)
  return found
}

type Part = { type: string; url: string; headers: Record<string, string>; body: number; head: number }

// Everything that a browser without a cache loads for one view, in its compressed size.
const partsOf = (name: string) => partsAt(page => stage(name).open(page))

async function partsAt(open: (page: Page) => Promise<unknown>, options?: CustomerOptions): Promise<Part[]> {
  const customer = await browser.newCustomer(options)
  const parts: Promise<Part>[] = []
  customer.page.on('response', response => {
    const asked = response.request()
    const part = async () => {
      const { responseBodySize: body, responseHeadersSize: head } = await asked.sizes()
      return {
        type: asked.resourceType(),
        url: asked.url(),
        headers: await response.allHeaders(),
        body,
        head,
      }
    }
    parts.push(part())
  })
  await open(customer.page)
  await customer.page.waitForLoadState('networkidle')
  const loaded = await Promise.all(parts)
  expect(customer.faults).toEqual([])
  expect(await customer.page.context().cookies()).toEqual([])
  await customer.close()
  return loaded
}

describe('the first view', () => {
  for (const name of [
    'choose',
    'choose-known',
    'nowhere',
    'wait-prompt',
    'wait-qr',
    'step-voucher',
    'failed',
    'receipt',
  ]) {
    test(`of ${name} is light, and loads nothing from other sites`, async () => {
      const parts = (await partsOf(name)).filter(({ type }) => type !== 'fetch') // news come later
      const ofType = (type: string) => parts.filter(part => part.type === type)
      expect(parts.map(({ type }) => type).sort()).toEqual(['document', 'script', 'stylesheet'])
      expect(new Set(parts.map(({ url }) => new URL(url).origin))).toEqual(new Set([stages.gateway.url]))
      const bytes = parts.reduce((sum, { body }) => sum + body, iconBytes)
      expect(bytes).toBeLessThanOrEqual(maxBytes)
      expect(ofType('script')[0]?.body).toBeLessThanOrEqual(maxScriptBytes)
      for (const { type, url, headers: told } of parts) {
        expect(told['content-encoding'], url).toBe(type === 'document' ? 'gzip' : 'br')
        if (type === 'document') expect(told['cache-control']).toBe('no-store')
        else expect(told['cache-control'], url).toBe('public, max-age=31536000, immutable')
        if (type !== 'document') expect(url).toMatch(/\?v=[0-9a-f]{10}$/)
      }
    })
  }

  for (const [where, options, most] of [
    ['a phone', {}, maxBytes],
    ['a desk', { width: 1280, height: 800 }, maxDeskBytes],
  ] as const)
    test(`of a shop with full branding is light on ${where}`, async () => {
      const shop = shopOf(stages.gateway)
      const akua = await shop.merchant(
        'Akua’s Kitchen',
        'accent=#5b21b6',
        'support_phone=0302550100',
        'support_email=help@akua.example',
        'terms_url=https://akua.example/terms',
        'refund_policy=Refunds within 7 days',
      )
      const picture = speckledPng(logoBytes)
      const logo = await setLogo(stages.gateway.db, akua.merchant_id, picture, new Date())
      if (typeof logo === 'string') throw new Error(logo)
      const line_items = [
        { name: 'Jollof, large', quantity: 2, total: '60.00' },
        { name: 'Kelewele', total: '15.00' },
        { name: 'Delivery, Osu', total: '10.00' },
      ]
      const token = await shop.ask(akua, { total: '85.00', number: '0244123456', line_items })
      const parts = (await partsAt(page => page.goto(shop.at(token)), options)).filter(
        ({ type }) => type !== 'fetch',
      )
      const pictures = parts.filter(({ type }) => type === 'image')
      expect(Math.max(...pictures.map(({ body }) => body))).toBeGreaterThan(logoBytes * 0.9)
      expect(pictures).toHaveLength(where === 'a desk' ? 2 : 1) // a phone does not load the code for itself
      expect(parts.reduce((sum, { body }) => sum + body, iconBytes)).toBeLessThanOrEqual(most)
    })

  test('has all rules of the stylesheet, without its comments', async () => {
    const { page, close } = await browser.newCustomer()
    const file = new URL('../../src/web/public/checkout.css', import.meta.url)
    await page.goto('data:text/html,<title>Rules</title>')
    const rulesOf = (css: string) => page.evaluate(readRules, css)
    expect(await rulesOf(minifyCss(readCheckoutStyles(file)))).toEqual(
      await rulesOf(readCheckoutStyles(file)),
    )
    await close()
  })

  test('loads nothing new when it is opened again', async () => {
    const { page, requests, close } = await browser.newCustomer()
    await stage('choose').open(page)
    await stage('choose').open(page)
    const again = (await requests()).slice(3).filter(({ bytes }) => bytes > 0)
    expect(again.map(({ type }) => type)).toEqual(['document'])
    await close()
  })
})

// As the browser parses them.
function readRules(css: string): string[] {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  return [...sheet.cssRules].map(rule => rule.cssText)
}

const policy = {
  'default-src': "'none'",
  'style-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
}
// Only the checkout has a script.
const scripted = {
  'script-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}
const hasTestPhone = new Set(['wait-prompt', 'wait-unknown', 'wait-qr'])
const always = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

test('every page is protected from other sites, and only the support sign-in stores anything in the browser', async () => {
  const { page, faults, close } = await browser.newCustomer()
  await page.route(`${shopOrigin}/**`, route => route.fulfill({ status: 204 }))
  for (const { name, open } of stages.all) {
    const shown = lastDocument(page)
    await open(page)
    const headers = shown()
    const isPhone = name.startsWith('sandbox-prompt') // the checkout frames it
    expect(headers, name).toMatchObject(isPhone ? { ...always, 'x-frame-options': 'SAMEORIGIN' } : always)
    const isScripted = !/^(sandbox|support)/.test(name)
    expect(policyOf(headers), name).toEqual({
      ...policy,
      ...(isScripted && scripted),
      ...(isPhone && { 'frame-ancestors': "'self'" }),
      ...(hasTestPhone.has(name) && { 'frame-src': "'self'" }),
    })
    for (const header of Object.keys(headers))
      expect(header, name).not.toMatch(/^(access-control-|set-cookie|x-powered-by|server$)/)
    expect(await page.evaluate('localStorage.length + sessionStorage.length'), name).toBe(0)
  }
  const cookies = await page.context().cookies()
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: 'tollgate_support', httpOnly: true, sameSite: 'Lax' },
    { name: 'tollgate_first_visit', httpOnly: true, sameSite: 'Lax' }, // the link offers the first account
    { name: 'tollgate_form', httpOnly: true, sameSite: 'Lax' },
  ])
  expect(faults).toEqual([])
  await close()
})

function lastDocument(page: Page) {
  let headers: Record<string, string> = {}
  page.on('response', response => {
    if (response.request().resourceType() === 'document') headers = response.headers()
  })
  return () => headers
}

const policyOf = (headers: Record<string, string>) =>
  Object.fromEntries(
    (headers['content-security-policy'] ?? '').split('; ').map(part => {
      const [name = '', ...words] = part.split(' ')
      return [name, words.join(' ')]
    }),
  )

// Requested from another site, with every header that a script there could send.
for (const method of ['GET', 'OPTIONS']) {
  test(`${method} from another origin gets no CORS header that lets its script read the answer`, async () => {
    for (const path of ['/checkout/x', '/public/checkout.js', '/sandbox/phone', '/support', '/gateway'])
      expect(await corsHeaders(method, stages.gateway.url + path), path).toEqual([])
  })
}

const corsHeaders = (method: string, url: string) =>
  new Promise<string[]>((resolve, reject) => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const asked = request(url, { method, headers }, answer => {
      answer.resume()
      resolve(Object.keys(answer.headers).filter(name => name.startsWith('access-control-')))
    })
    asked.on('error', reject).end()
  })
