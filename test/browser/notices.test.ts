import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { shopOf, wallet } from '../support/checkout/stages.ts'

declare const document: any // the functions given to evaluate() run in the browser
declare const getComputedStyle: any

let gateway: TestGateway
let browser: TestBrowser
let merchant: TestMerchant

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway({}, { sandboxPace: 0.5 }), openBrowser()])
  merchant = await shopOf(gateway).merchant('Ama Shop')
})

afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

async function visit(options: CustomerOptions = {}, pays = false) {
  const shop = shopOf(gateway)
  const token = await shop.ask(merchant, { description: 'Two straw hats, order 1042' })
  if (pays) await shop.pay(token, wallet('0244123456'))
  const { page, close } = await browser.newCustomer(options)
  onTestFinished(close)
  await page.goto(shop.at(token))
  return page
}

// The part of it that is visible without scrolling, from 0 to 1.
const shareInView = (page: Page, selector: string): Promise<number> =>
  page.evaluate((wanted: string) => {
    const { top, bottom, height } = document.querySelector(wanted).getBoundingClientRect()
    const seen = Math.min(bottom, document.documentElement.clientHeight) - Math.max(top, 0)
    return Math.max(0, seen) / height
  }, selector)

// Everything that is animated.
const moving = (page: Page): Promise<number> =>
  page.evaluate(
    () => document.getAnimations().filter((one: any) => one.playState === 'running').length,
  ) as Promise<number>

describe('a lost connection', () => {
  for (const [what, pays] of [
    ['while choosing', false],
    ['while waiting', true],
  ] as const)
    for (const width of [360, 1280])
      test(`is visible at every scroll position, ${what}, ${width} wide`, async () => {
        const page = await visit({ width }, pays)
        const notice = page.getByText('Connection lost')
        await page.evaluate('scrollTo(0, document.body.scrollHeight)')
        await page.context().setOffline(true)
        await notice.waitFor()
        expect(await shareInView(page, '.status')).toBe(1)
        expect(await page.evaluate(onTop)).toBe('status')
        expect(await moving(page)).toBe(0)
        await page.evaluate('scrollTo(0, 0)')
        expect(await shareInView(page, '.status')).toBe(1)

        await page.context().setOffline(false)
        const back = page.getByRole('status').filter({ hasText: 'Connected again.' })
        await back.waitFor({ state: 'attached' })
        const { width: seen } = (await back.boundingBox()) ?? { width: 0 }
        expect(seen).toBeLessThanOrEqual(1) // heard, not seen
      })

  test('is announced again only after it was lost again', async () => {
    const page = await visit({}, true)
    await page.evaluate(`
      const news = document.querySelector('.status')
      const seen = (window.seen = [])
      new MutationObserver(() => seen.push(news.textContent)).observe(news, { childList: true })`)
    await page.context().setOffline(true)
    await page.getByText('Connection lost').waitFor()
    await page.context().setOffline(false)
    const seen = ['Connection lost. We keep trying to reconnect.', 'Connected again.', '']
    await expect.poll(() => page.evaluate('window.seen'), { timeout: 15_000 }).toEqual(seen)
  })
})

// The element that is visible in the middle of the notice.
function onTop(): string {
  const { left, top, width, height } = document.querySelector('.status').getBoundingClientRect()
  return document.elementFromPoint(left + width / 2, top + height / 2).className
}

test('nothing is animated with prefers-reduced-motion', async () => {
  const page = await visit({ reducedMotion: true }, true)
  await page.getByRole('heading', { name: 'Enter your PIN on your phone' }).waitFor()
  expect(await moving(page)).toBe(0)
})

describe('a fault of the form', () => {
  for (const scripts of [true, false])
    for (const width of [320, 360, 1280])
      test(`is in view, scripts ${scripts ? 'on' : 'off'}, ${width} wide`, async () => {
        const page = await visit({ width, scripts })
        await page.locator('#telecel_cash').check()
        await page.locator('form [type=submit]').first().click()
        await page.getByRole('alert').waitFor()
        expect(await shareInView(page, '#faults')).toBe(1)
        if (scripts) expect(await page.evaluate('document.activeElement.id')).toBe('faults')
      })
})

test('a row that has the focus has one ring', async () => {
  const page = await visit()
  for (let pressed = 0; pressed < 10; pressed++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement.name')) === 'payment_method') break
  }
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate(rings)).toEqual(['label'])
})

function rings(): string[] {
  return [...document.querySelectorAll('*')]
    .filter(element => {
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
    })
    .map(element => element.localName)
}
