import assert from 'node:assert/strict'
import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setLogo } from '../../src/actions/merchants/logos.ts'
import { readLogo } from '../../src/core/merchant/logo/logo.ts'
import { zip } from '../../src/runtime/zip.ts'
import { overflow } from '../support/browser/measure.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { chunk, header, png } from '../support/merchant/pictures.ts'
import { shopOf, wallet } from '../support/checkout/stages.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const getComputedStyle: any

let gateway: TestGateway
let browser: TestBrowser
let token: string
let paid: string

const accent = '#5b21b6'
const line_items = [
  { name: 'Jollof, large', quantity: 2, total: '60.00' },
  { name: 'Kelewele', total: '15.00' },
  { name: 'Delivery, Osu', total: '10.00' },
]

// Four pixels of each colour in turn.
function stripes(side = 64) {
  const line = (row: number) =>
    Buffer.from([
      0,
      ...Array.from({ length: side }, (_, at) =>
        ((at >> 2) + (row >> 2)) % 2 ? [245, 180, 60] : [40, 30, 20],
      ).flat(),
    ])
  const dots = Buffer.concat(Array.from({ length: side }, (_, row) => line(row)))
  return png(header(side, side), chunk('IDAT', deflateSync(dots)), chunk('IEND'))
}

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.05 }), openBrowser()])
  const shop = shopOf(gateway)
  const akua = await shop.merchant(
    'Akua’s Kitchen',
    `accent=${accent}`,
    'support_phone=0302550100',
    'support_email=help@akua.example',
    'terms_url=https://akua.example/terms',
    'refund_policy=Refunds within 7 days',
  )
  const logo = await setLogo(gateway.db, akua.merchant_id, stripes(), new Date())
  assert(typeof logo !== 'string', String(logo))
  token = await shop.ask(akua, { total: '85.00', line_items })
  paid = await shop.ask(akua, { total: '85.00', line_items })
  await shop.pay(paid, wallet('0244123000'))
  await shop.until(paid, 'paid')
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const lines = ['2 × Jollof, large 60.00', 'Kelewele 15.00', 'Delivery, Osu 10.00', 'Total GHS 85.00']
const linesInFrench = ['2 × Jollof, large 60,00', 'Kelewele 15,00', 'Delivery, Osu 10,00', 'Total 85,00 GHS']

async function linesOf(page: Page, within = '.items') {
  const parts = await page.locator(`${within} li > span`).allTextContents()
  const plain = parts.map(part => part.replace(/\s+/g, ' ').trim())
  return plain.flatMap((part, at) => (at % 2 === 0 ? [`${part} ${plain[at + 1]}`] : []))
}

test('the receipt lists the items, on a phone and on paper, where it has no colours', async () => {
  const { page, faults, close } = await browser.newCustomer({ height: 740 })
  await page.goto(`${gateway.url}/checkout/${paid}/receipt`)
  const list = page.locator('.receipt .items')
  expect(await list.isVisible()).toBe(true)
  expect(await linesOf(page, '.receipt .items')).toEqual(lines)
  expect(await axeFaults(page)).toEqual([])
  await page.emulateMedia({ media: 'print' })
  expect(await list.isVisible()).toBe(true)
  const colour = await page.evaluate(() =>
    getComputedStyle(document.documentElement).getPropertyValue('--accent'),
  )
  expect(colour.trim()).toBe('#000')
  expect(faults).toEqual([])
  await close()
})

for (const [name, options] of [
  ['a phone', {}],
  ['a phone in the dark, in French', { dark: true, locale: 'fr-FR' }],
  ['a desk without scripts', { width: 1280, height: 800, scripts: false }],
  ['a desk in the dark', { width: 1280, height: 800, dark: true }],
] as const)
  test(`the branding of a shop is shown on ${name}: logo, colour, items, contact`, async () => {
    const { page, faults, close } = await browser.newCustomer(options)
    await page.goto(`${gateway.url}/checkout/${token}`)
    const logo = page.locator('img.logo').first()
    expect(await logo.evaluate((img: any) => [img.complete, img.naturalWidth])).toEqual([true, 64])
    const colour = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--accent').trim(),
    )
    if ('dark' in options) expect(colour).not.toBe(accent)
    else expect(colour).toBe(accent)
    if (!('width' in options)) await page.locator('.listed summary').click() // a phone folds it
    expect(await linesOf(page)).toEqual('locale' in options ? linesInFrench : lines)
    expect(await page.locator('a[href="tel:+233302550100"]').count()).toBeGreaterThan(0)
    expect(await page.locator('a[href="mailto:help@akua.example"]').count()).toBeGreaterThan(0)
    expect(await page.locator('a[href="https://akua.example/terms"]').count()).toBeGreaterThan(0)
    expect(await page.locator('body').innerText()).toContain('Refunds within 7 days')
    expect(await overflow(page)).toBe(false)
    expect(await axeFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })

// A logo that a real encoder wrote looks the same after it was rewritten.
for (const type of ['png', 'jpeg'] as const)
  test(`a ${type} of a browser looks the same after it was rewritten`, async () => {
    const { page, close } = await browser.newCustomer()
    await page.goto('data:text/html,<title>x</title>')
    const before = await page.evaluate(drawn, { type: `image/${type}`, from: '' })
    const logo = readLogo(Buffer.from(before.url.split(',')[1] ?? '', 'base64'), zip)
    assert(typeof logo !== 'string', String(logo))
    const from = `data:image/${type};base64,${logo.bytes.toString('base64')}`
    const after = await page.evaluate(drawn, { type: `image/${type}`, from })
    expect(logo).toMatchObject({ type, width: 120, height: 80 })
    expect(after.dots).toEqual(before.dots)
    await close()
  })

type Drawn = { url: string; dots: number[] }

// Draws a test image, or the given one, and returns its decoded pixels.
async function drawn({ type, from }: { type: string; from: string }): Promise<Drawn> {
  const canvas = document.createElement('canvas')
  canvas.width = 120
  canvas.height = 80
  const context = canvas.getContext('2d')
  const draw = async (url: string) => {
    const img = document.createElement('img')
    img.src = url
    await img.decode()
    context.clearRect(0, 0, 120, 80)
    context.drawImage(img, 0, 0)
  }
  if (from) await draw(from)
  else {
    const sweep = context.createLinearGradient(0, 0, 120, 80)
    sweep.addColorStop(0, '#5b21b6')
    sweep.addColorStop(1, '#f5b43c')
    context.fillStyle = sweep
    context.fillRect(0, 0, 120, 80)
    context.fillStyle = '#fff'
    context.font = '40px serif'
    context.fillText('Akua', 10, 55)
  }
  const url = from || canvas.toDataURL(type)
  await draw(url)
  return { url, dots: [...context.getImageData(0, 0, 120, 80).data].filter((_, at) => at % 37 === 0) }
}
