import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { focusOrder } from '../support/browser/focus.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway.ts'
import { post, signedRequest } from '../support/merchant.ts'

let browser: TestBrowser
let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.5 })
  shop = await gateway.addMerchant()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

async function visit(fields: Record<string, unknown> = {}, options: CustomerOptions = {}) {
  const { body, text } = await post(gateway.url, signedRequest(shop.test, fields))
  assert.ok(body.checkout_url, text)
  const customer = await browser.newCustomer(options)
  onTestFinished(() => customer.close())
  await customer.page.goto(body.checkout_url)
  return { ...customer, url: body.checkout_url as string }
}

for (const scripts of [true, false]) {
  describe(`with scripts ${scripts ? 'on' : 'off'}`, () => {
    test('a customer pays and is led back to the shop', async () => {
      const success_url = `${gateway.url}/healthz?shop`
      const { page, faults } = await visit({ success_url }, { scripts })
      await page.getByLabel('MTN MoMo').check()
      await page.locator('[id="mtn_mobile_money.phone"]').fill('024 412 3001')
      await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
      await page.getByRole('heading', { name: 'Paid' }).waitFor()
      await page.waitForURL(success_url)
      expect(faults).toEqual([])
    })

    test('only what the chosen way asks is shown', async () => {
      const { page } = await visit({}, { scripts })
      const shown = () => page.locator('.field input').filter({ visible: true }).count()
      expect(await shown()).toBe(0)
      await page.getByLabel('Telecel Cash').check()
      expect(await shown()).toBe(2)
      await page.getByLabel('GhQR').check()
      expect(await shown()).toBe(0)
    })

    test('a card is paid on the page of the provider', async () => {
      const { page } = await visit({}, { scripts })
      await page.getByLabel('Card', { exact: false }).first().check()
      await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
      await page.waitForURL(/\/sandbox\/card\//)
    })
  })
}

test('a number of another network offers the change, forces nothing and goes along', async () => {
  const { page, faults } = await visit()
  await page.getByLabel('MTN MoMo').check()
  const mtn = page.locator('[id="mtn_mobile_money.phone"]')
  await mtn.fill('0244')
  await page.getByText('This looks like MTN MoMo. Not right?').waitFor()
  await mtn.fill('050 123 4567')
  expect(await page.getByLabel('MTN MoMo').isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Pay with Telecel Cash instead' }).click()
  expect(await page.getByLabel('Telecel Cash').isChecked()).toBe(true)
  expect(await page.locator('[id="telecel_cash.phone"]').inputValue()).toBe('050 123 4567')
  expect(faults).toEqual([])
})

test('a lost connection is told, and found again', async () => {
  const { page } = await visit({ number: '0244123456' })
  await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
  await page.getByRole('heading', { name: 'Waiting for your approval' }).waitFor()
  await page.context().setOffline(true)
  await page.getByText('Connection lost. We try again by ourselves.').waitFor()
  await page.context().setOffline(false)
  await page.getByText('Connection lost').waitFor({ state: 'detached' })
})

test('the keyboard alone is enough', async () => {
  const { page } = await visit({ number: '0244123456' })
  const stops = await focusOrder(page)
  expect(stops.map(({ role, name }) => `${role} ${name}`)).toEqual([
    'link Français',
    'radio MTN MoMo Approve on your phone',
    'textbox Your mobile money number',
    'button Pay GHS 25.00',
    'link Cancel this payment',
    expect.stringContaining('Test numbers and cards'),
  ])
  expect(stops.filter(({ outlined }) => !outlined)).toEqual([])
})

test('a fault takes the focus to its list, and from there to the field', async () => {
  const { page } = await visit({ number: '0244123456' })
  const field = page.locator('[id="mtn_mobile_money.phone"]')
  await field.fill('12')
  await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
  await page.locator('#faults:focus').waitFor()
  await page.getByRole('link', { name: 'this is not a complete number' }).click()
  expect(await field.evaluate((input: any) => input.matches(':focus'))).toBe(true)
})

test('markup in every text that a shop gives runs nothing', async () => {
  const evil = '<img src=x onerror=alert(1)><script>alert(1)</script>'
  const { page, faults } = await visit({ description: evil, name: evil, number: '0240000000' })
  expect(await page.getByText(evil).count()).toBe(1)
  await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
  await page.getByRole('heading', { name: 'Paid' }).waitFor()
  expect(await page.getByText(evil).count()).toBe(1)
  expect(faults).toEqual([])
})

test('the first view is one page, one stylesheet, one script and an icon, and light', async () => {
  const { requests, weight, origins } = await visit()
  const types = (await requests()).map(({ type }) => type).sort()
  expect(types.filter(type => type !== 'other' && type !== 'image')).toEqual([
    'document',
    'script',
    'stylesheet',
  ])
  expect(await origins()).toEqual([gateway.url])
  expect(await weight()).toBeLessThan(14_000)
})
