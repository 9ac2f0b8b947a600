import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'

let browser: TestBrowser
let gateway: TestGateway

beforeAll(async () => {
  gateway = await testGateway()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

for (const scripts of [true, false])
  test(`only the fields of the chosen method are shown, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const shop = await gateway.addMerchant()
    const { body } = await post(gateway.url, signedRequest(shop.test))
    const { page, close } = await browser.newCustomer({ scripts })
    onTestFinished(close)
    await page.goto(body.checkout_url)
    const shown = () => page.locator('.field input').filter({ visible: true }).count()
    expect(await shown()).toBe(0)
    await page.getByLabel('Telecel Cash').check()
    expect(await shown()).toBe(2)
    await page.getByLabel('GhQR').check()
    expect(await shown()).toBe(0)
  })
