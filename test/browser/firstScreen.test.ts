import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { setLogo } from '../../src/actions/merchants/logos.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { shopOf } from '../support/checkout/stages.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { plainPng } from '../support/merchant/pictures.ts'

declare const document: any // the functions given to evaluate() run in the browser

const desk = { width: 1280, height: 800 } as const
const languages = ['en-GB', 'fr-FR'] as const

let gateway: TestGateway
let browser: TestBrowser
let merchant: TestMerchant

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.05 }), openBrowser()])
  merchant = await shopOf(gateway).merchant('Akua’s Kitchen', 'accent=#5b21b6')
  await setLogo(gateway.db, merchant.merchant_id, plainPng(), new Date())
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function visit(fields: Record<string, unknown>, options: CustomerOptions = {}, shop = merchant) {
  const customer = await browser.newCustomer(options)
  onTestFinished(() => customer.close())
  await customer.page.goto(shopOf(gateway).at(await shopOf(gateway).ask(shop, fields)))
  return customer.page
}

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox()
  if (!box) throw new Error(`${selector} is not seen`)
  return { ...box, bottom: box.y + box.height, right: box.x + box.width }
}
const payButton = 'form [type=submit]'
const bottomOf = async (page: Page, selector: string) => (await boxOf(page, selector)).bottom

describe('the pay button is visible without scrolling', () => {
  for (const locale of languages)
    for (const [way, number] of [
      ['mtn_mobile_money', '0244123456'],
      ['airteltigo_money', '0264123456'],
    ] as const)
      for (const scripts of [true, false])
        test(`on a small phone, ${way}, ${locale}, scripts ${scripts ? 'on' : 'off'}`, async () => {
          const page = await visit({ description: 'Two straw hats, order 1042', number }, { locale, scripts })
          expect(await page.locator(`#${way}`).isChecked()).toBe(true)
          for (const seen of ['.test', 'img.mark', '.what'])
            expect(await page.locator(seen).isVisible()).toBe(true)
          expect(await bottomOf(page, payButton)).toBeLessThanOrEqual(740)
        })

  for (const locale of languages)
    for (const [way, number] of [
      ['mtn_mobile_money', '0244123456'],
      ['telecel_cash', '0204123456'], // asks for two things
    ] as const)
      test(`on a desk, ${way}, ${locale}`, async () => {
        const page = await visit({ description: 'hat '.repeat(124), number }, { ...desk, locale })
        expect(await page.locator(`#${way}`).isChecked()).toBe(true)
        expect(await bottomOf(page, payButton)).toBeLessThanOrEqual(desk.height)
      })
})

describe('on a desk', () => {
  for (const width of [960, 1024, 1280, 1600])
    test(`${width} wide, the bill is beside the form, in a column of its own`, async () => {
      const page = await visit({ description: 'Two straw hats, order 1042' }, { width, height: 800 })
      const bill = await boxOf(page, '.bill')
      const ways = await boxOf(page, '.stage')
      expect(bill.x).toBe(0)
      expect(bill.right).toBeLessThanOrEqual(ways.x)
      expect(bill.width).toBeLessThanOrEqual(400)
      expect(bill.width).toBeGreaterThanOrEqual(320)
      expect(await bottomOf(page, '.foot')).toBeGreaterThanOrEqual(800) // the column goes down to the end
      expect(await bottomOf(page, '.on-phone img')).toBeLessThanOrEqual(800)
      expect(await overflow(page)).toBe(false)
    })

  test('the items are listed with their sum, without a fold', async () => {
    const line_items = Array.from({ length: 10 }, (_, at) => ({ name: `Dish ${at + 1}`, total: '2.50' }))
    const page = await visit({ line_items }, { ...desk, scripts: false })
    expect(await page.locator('.items li').filter({ visible: true }).count()).toBe(11)
    expect(await page.locator('.listed summary').isVisible()).toBe(false)
    expect(await bottomOf(page, '.items')).toBeLessThanOrEqual(desk.height)
    expect(await bottomOf(page, payButton)).toBeLessThanOrEqual(desk.height)
  })

  test('the column of the bill stays during the payment', async () => {
    const page = await visit({ number: '0244123456' }, desk)
    const before = await boxOf(page, '.bill .amount')
    await page.locator(payButton).first().click()
    await page.getByRole('heading', { name: 'Enter your PIN on your phone' }).waitFor()
    expect(await boxOf(page, '.bill .amount')).toEqual(before)
  })
})

test('on a phone the items are folded, and the button stays in view', async () => {
  const line_items = Array.from({ length: 10 }, (_, at) => ({ name: `Dish ${at + 1}`, total: '2.50' }))
  const page = await visit({ line_items, number: '0244123456' }, { scripts: false })
  const last = page.getByText('Dish 10')
  expect(await last.isVisible()).toBe(false)
  expect(await bottomOf(page, payButton)).toBeLessThanOrEqual(740)
  await page.locator('.listed summary').click()
  expect(await last.isVisible()).toBe(true)
})

const fiveHundred = 'Wax print, hand made, '.repeat(23).slice(0, 500)

for (const scripts of [true, false])
  for (const options of [{}, desk])
    test(`a description of 500 characters folds, ${'width' in options ? 'desk' : 'phone'}, scripts ${scripts ? 'on' : 'off'}`, async () => {
      const page = await visit({ description: fiveHundred }, { ...options, scripts })
      const text = page.getByText(fiveHundred)
      const folded = (await text.boundingBox())?.height ?? 0
      expect(folded).toBeLessThan(80)
      await text.click()
      expect((await text.boundingBox())?.height).toBeGreaterThan(2 * folded)
    })

describe('a shop with a long name', () => {
  const names = {
    'three lines': 'The Very Reverend Kwabena Nketia Memorial Trading and Catering Company of Kumasi Limited',
    'one word': 'Wijdverspreidheidsonderzoekscommissievoorzitterswoning'.repeat(2),
    'another direction': 'مطعم أكوا للمأكولات الشعبية في كوماسي، غانا',
  }
  for (const [what, name] of Object.entries(names))
    for (const width of [320, 360, 1280])
      test(`of ${what} keeps its distance from the language, ${width} wide`, async () => {
        const shop = await shopOf(gateway).merchant(name)
        const page = await visit({}, { width, height: 800 }, shop)
        const [title, language] = [await boxOf(page, '.shop'), await boxOf(page, 'nav :is(a, .link)')]
        expect(language.x - title.right).toBeGreaterThanOrEqual(0)
        expect(language.right).toBeLessThanOrEqual(width)
        expect(await page.evaluate(cutTexts)).toEqual([])
        expect(await overflow(page)).toBe(false)
      })
})

// Elements that are wider than the box that clips them.
function cutTexts(): string[] {
  return [...document.querySelectorAll('body *')]
    .filter(element => element.checkVisibility() && element.clientWidth > 1 && !element.ownerSVGElement)
    .filter(element => element.scrollWidth > element.clientWidth + 1)
    .map(element => `${element.localName}.${element.className}: ${element.textContent.slice(0, 40)}`)
}
