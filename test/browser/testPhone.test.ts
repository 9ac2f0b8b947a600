import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { shopOf, wallet } from '../support/checkout/stages.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { en, sees, seesPaid } from '../support/journeys/steps.ts'

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

// A payment that waits for the tester.
async function visit(options: CustomerOptions) {
  const shop = shopOf(gateway)
  const token = await shop.ask(merchant)
  await shop.pay(token, wallet('0244123456'))
  const customer = await browser.newCustomer(options)
  onTestFinished(() => customer.close())
  await customer.page.goto(shop.at(token))
  await sees(customer.page, en.wait.prompt)
  return customer
}

const { prompt, endings } = en.sandbox

for (const scripts of [true, false])
  for (const [button, ending, title] of [
    [prompt.approve, endings.approved, en.paid.title],
    [prompt.decline, endings.declined, en.reasons.declined.title],
  ] as const)
    test(`the test phone stands beside the page on a desk: ${button}, scripts ${scripts ? 'on' : 'off'}`, async () => {
      const { page, faults } = await visit({ width: 1280, height: 800, scripts })
      const phone = page.frameLocator('iframe')
      expect(await page.locator('.bench').innerText()).toContain('Test phone. Any PIN pays. Cancel declines.')
      expect(await page.getByRole('link', { name: en.wait.test_phone }).isVisible()).toBe(false)
      expect(await overflow(page)).toBe(false)
      if (scripts) expect(await axeFaults(page)).toEqual([])
      if (button === prompt.approve) await phone.getByLabel(prompt.pin).fill('1234')
      await phone.getByRole('button', { name: button }).click()
      if (scripts) await phone.getByRole('heading', { name: ending }).waitFor()
      if (button === prompt.approve) await seesPaid(page)
      else await sees(page, title)
      expect(faults).toEqual([])
    })

test('a phone has a link instead, and does not load the frame', async () => {
  const { page } = await visit({})
  expect(await page.locator('iframe').isVisible()).toBe(false)
  expect(await page.getByRole('link', { name: en.wait.test_phone }).isVisible()).toBe(true)
  await page.waitForLoadState('networkidle')
  expect(
    page
      .frames()
      .map(frame => frame.url())
      .filter(url => url.includes('/sandbox/')),
  ).toEqual([])
})

test('another site cannot frame the test phone', async () => {
  const shop = shopOf(gateway)
  const token = await shop.ask(merchant)
  await shop.pay(token, wallet('0244123456'))
  const answer = await fetch(`${gateway.url}/sandbox/phone/${await shop.attempt(token)}?framed=1`)
  expect(answer.headers.get('x-frame-options')).toBe('SAMEORIGIN')
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
})
