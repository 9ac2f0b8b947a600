import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { focusOrder } from '../support/browser/focus.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { shopOf } from '../support/checkout/stages.ts'

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

async function visit(options?: CustomerOptions) {
  const shop = shopOf(gateway)
  const token = await shop.ask(merchant)
  const customer = await browser.newCustomer(options)
  onTestFinished(() => customer.close())
  await customer.page.goto(shop.at(token))
  return customer
}

const pressUntil = async (page: Page, key: string, isThere: () => Promise<boolean>) => {
  for (let pressed = 0; pressed < 20; pressed++) {
    if (await isThere()) return
    await page.keyboard.press(key)
  }
  throw new Error(`${key} does not lead there`)
}
const active = (page: Page, what: 'id' | 'localName' | 'textContent' | 'name') =>
  page.evaluate(`document.activeElement.${what}`) as Promise<string>

for (const scripts of [true, false]) {
  test(`a customer pays with the keyboard only, with scripts ${scripts ? 'on' : 'off'}`, async () => {
    const { page, faults } = await visit({ width: 1280, scripts })
    const { keyboard } = page
    await pressUntil(page, 'Tab', async () => (await active(page, 'name')) === 'payment_method')
    await keyboard.press('Space')
    await pressUntil(page, 'ArrowDown', async () => (await active(page, 'id')) === 'card')
    await pressUntil(page, 'ArrowUp', async () => (await active(page, 'id')) === 'mtn_mobile_money')
    await keyboard.press('Tab')
    expect(await active(page, 'id')).toBe('mtn_mobile_money.phone')
    await keyboard.type('024 412 3000')
    await keyboard.press('Tab')
    expect(await active(page, 'textContent')).toBe('Pay GHS 25.00')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
    await pressUntil(
      page,
      'Tab',
      async () =>
        (await active(page, 'localName')) === 'a' && /receipt/.test(await active(page, 'textContent')),
    )
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Receipt' }).waitFor()
    expect(faults).toEqual([])
  })
}

describe('the focus order', () => {
  for (const [chosen, fields] of [
    ['mtn_mobile_money', ['Your mobile money number']],
    ['telecel_cash', ['Your mobile money number', 'Voucher code']],
    ['card', []],
  ] as const) {
    test(`is that of the page when ${chosen} is chosen, and each focus is visible`, async () => {
      const { page } = await visit()
      await page.locator(`[id="${chosen}"]`).check()
      const stops = await focusOrder(page)
      expect(stops.map(({ name }) => name.trim())).toEqual([
        'Français',
        expect.stringMatching({ mtn_mobile_money: 'MTN', telecel_cash: 'Telecel', card: 'Card' }[chosen]),
        ...fields,
        'Pay GHS 25.00',
        'Cancel this payment',
        'Paid',
        'Declined',
        'No money',
        'No answer',
        'Late',
        'Wrong amount',
        'Test numbers and cards',
      ])
      expect(stops.filter(({ outlined }) => !outlined)).toEqual([])
    })
  }
})

describe('a fault of the form', () => {
  for (const scripts of [true, false]) {
    test(`is announced, and links to the field, with scripts ${scripts ? 'on' : 'off'}`, async () => {
      const { page } = await visit({ scripts })
      await page.locator('#telecel_cash').check()
      await page.locator('[id="telecel_cash.phone"]').fill('0244 12')
      await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
      const alert = page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.innerText()).toMatch(/Please check 2 things/)
      if (scripts) expect(await active(page, 'id')).toBe('faults')
      for (const [words, id] of [
        ['not a complete number', 'telecel_cash.phone'],
        ['Voucher code', 'telecel_cash.voucher_code'],
      ] as const) {
        await alert.getByRole('link', { name: words }).press('Enter')
        expect(await active(page, 'id')).toBe(id)
      }
      const phone = page.locator('[id="telecel_cash.phone"]')
      expect(await phone.inputValue()).toBe('0244 12')
      expect(await phone.getAttribute('aria-invalid')).toBe('true')
      const described = (await phone.getAttribute('aria-describedby')) ?? ''
      expect(await page.locator(`[id="${described.split(' ')[0]}"]`).innerText()).toMatch(/not a complete/)
    })
  }

  test('links to the payment methods if none was chosen', async () => {
    const { page } = await visit()
    await page.getByRole('button', { name: 'Pay GHS 25.00' }).press('Enter')
    await page.getByRole('alert').getByRole('link').press('Enter')
    expect(await active(page, 'name')).toBe('payment_method')
  })
})

test('the network is guessed while the number is typed, and the offered button selects it', async () => {
  const { page } = await visit({ width: 1280 })
  await page.locator('#mtn_mobile_money').check()
  await page.locator('[id="mtn_mobile_money.phone"]').pressSequentially('0201234567')
  const told = page.getByRole('status').filter({ hasText: 'Telecel' })
  expect(await told.innerText()).toContain('This looks like a number of Telecel Cash.')
  await told.getByRole('button').press('Enter')
  expect(await page.locator('#telecel_cash').isChecked()).toBe(true)
  expect(await active(page, 'id')).toMatch(/^telecel_cash/) // the button is gone, and the focus not lost with it
  expect(await page.locator('[id="telecel_cash.phone"]').inputValue()).toBe('0201234567')
})

test('the waiting page announces changes to a screen reader', async () => {
  const { page } = await visit()
  await page.locator('#mtn_mobile_money').check()
  await page.locator('[id="mtn_mobile_money.phone"]').fill('0244123456')
  await page.getByRole('button', { name: 'Pay GHS 25.00' }).click()
  await page.getByRole('heading', { name: 'Enter your PIN on your phone' }).waitFor()
  await page.locator('[data-version*="pending"]').waitFor({ state: 'attached' }) // else that would be news, too
  await page.evaluate(`
    const seen = (window.seen = [])
    new MutationObserver(() => seen.push(document.querySelector('[role=status]').textContent))
      .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true })`)
  await page.context().setOffline(true)
  await page.getByText('Connection lost').waitFor()
  await page.context().setOffline(false)
  const seen = ['Connection lost. We keep trying to reconnect.', 'Connected again.', '']
  await expect.poll(() => page.evaluate('window.seen')).toEqual(seen)
  const link = page.getByRole('link', { name: 'Open the test phone' })
  const phone = await page.context().newPage()
  await phone.goto(new URL((await link.getAttribute('href')) ?? '', page.url()).href)
  const said = page.getByRole('status').filter({ hasText: 'Paid.' }).waitFor() // for a moment, so it is waited for before
  await phone.getByLabel('Test PIN').fill('1234')
  await phone.getByLabel('Test PIN').press('Enter')
  await page.bringToFront()
  await said
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
})

test('pressing a key on the paid page stops the redirect', async () => {
  const shop = shopOf(gateway)
  const token = await shop.ask(merchant, { success_url: `${gateway.url}/healthz` })
  await shop.pay(token, { payment_method: 'mtn_mobile_money', 'mtn_mobile_money.phone': '0244123000' })
  await shop.until(token, 'paid')
  const { page } = await visit()
  await page.goto(shop.at(token))
  await page.keyboard.press('Tab')
  await page.waitForTimeout(5000)
  expect(page.url()).toBe(shop.at(token))
})
