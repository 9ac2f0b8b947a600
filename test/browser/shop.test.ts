import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { welcome } from '../../src/actions/merchants/onboard.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { answerPrompt, en } from '../support/journeys/steps.ts'

let browser: TestBrowser
let gateway: TestGateway
beforeAll(async () => {
  ;[browser, gateway] = await Promise.all([
    openBrowser(),
    testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.3 }),
  ])
  await welcome(gateway.db, gateway.masterKeys, new Date())
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const desk = { width: 1280, height: 900 }
const screens: [string, CustomerOptions][] = [
  ['a phone', {}],
  ['a phone without scripts', { scripts: false }],
  ['a phone at night', { dark: true }],
  ['a desk', desk],
  ['a desk without scripts', { ...desk, scripts: false }],
  ['a desk at night', { ...desk, dark: true }],
  ['the smallest phone', { width: 320 }],
]

const steps = (page: Page) => page.locator('.timeline > li')
const whatOf = async (page: Page) =>
  (await steps(page).locator('.what').allInnerTexts()).map(text => text.replace(/^[\w ]+:\s*/, ''))
// A failure shows the steps that are not done.
async function allDone(page: Page, count = 7) {
  await expect.poll(() => steps(page).and(page.locator(':not(.done)')).allInnerTexts()).toEqual([])
  expect(await steps(page).count()).toBe(count)
}

async function checkLook(page: Page) {
  // Without scripts the page reloads by itself until the order is over, and has a link to do so.
  expect((await axeFaults(page)).filter(fault => !fault.startsWith('meta-refresh'))).toEqual([])
  expect(await overflow(page)).toBe(false)
  expect(await smallTargets(page)).toEqual([])
}

// On a desk with scripts the checkout opens in a window of its own.
async function buy(page: Page, options: CustomerOptions, name: RegExp): Promise<Page> {
  const opens = (options.width ?? 0) > 1024 && options.scripts !== false
  const opened = opens ? page.waitForEvent('popup') : undefined
  await page.getByRole('button', { name }).click()
  const checkout = (await opened) ?? page
  await checkout.waitForURL(/\/checkout\//)
  return checkout
}

// A window of the checkout closes by itself.
async function isBackInShop(page: Page, checkout: Page) {
  if (checkout === page)
    await page
      .getByRole('link', { name: /Demo Shop/ })
      .first()
      .click()
  else await expect.poll(() => checkout.isClosed()).toBe(true)
  await page.waitForURL(/order=DEMO-/)
}

for (const [screen, options] of screens)
  test(`a hat is bought and paid on ${screen}, and every step is shown`, async () => {
    const { page, faults, shoot, close } = await browser.newCustomer(options)
    onTestFinished(close)
    const name = `shop-${screen.replaceAll(' ', '-')}`
    await page.goto(gateway.url)
    await shoot(`${name}-new`)
    await checkLook(page)
    await page.getByLabel('Paid', { exact: true }).check({ force: true })
    const checkout = await buy(page, options, /Buy the straw hat/)
    await checkout.getByRole('button', { name: /Pay/ }).first().click()
    await isBackInShop(page, checkout)
    await allDone(page)
    expect(await whatOf(page)).toEqual([
      'Payment requested',
      'Checkout opened',
      'MTN asked',
      'Approved on the phone',
      'Paid',
      'Shop notified',
      'SMS and email sent',
    ])
    await page.getByText('Paid. Thank you').waitFor()
    expect(await page.getByText(/Signature verified, 200 in \d+ ms/).count()).toBe(1)
    await shoot(`${name}-paid`)
    await checkLook(page)
    expect(faults).toEqual([])
  })

for (const [screen, options] of [screens[0], screens[3]] as [string, CustomerOptions][])
  test(`the visitor decides on the test phone, on ${screen}, and the panel leads there`, async () => {
    const { page, faults, shoot, close } = await browser.newCustomer(options)
    onTestFinished(close)
    await page.goto(gateway.url)
    const checkout = await buy(page, options, /Buy the kente scarf/)
    await checkout.getByRole('button', { name: /Pay/ }).first().click()
    if (checkout === page) await page.goto(gateway.url)
    await page.getByRole('link', { name: 'Open the test phone' }).waitFor()
    expect(await page.locator('.timeline > .now .left').innerText()).toMatch(/^\d:\d\d left$/)
    await shoot('shop-waiting')
    await checkLook(page)
    await page.getByRole('link', { name: 'Open the test phone' }).click()
    await checkout.waitForURL(/sandbox\/phone/)
    await answerPrompt(checkout, 'Approve')
    await checkout.getByRole('link', { name: en.sandbox.back }).click()
    await isBackInShop(page, checkout)
    await allDone(page)
    expect(faults).toEqual([])
  })

for (const [screen, options] of [screens[0], screens[1], screens[3]] as [string, CustomerOptions][])
  test(`a paid order is refunded on ${screen}, and the receipt says so`, async () => {
    const { page, faults, shoot, close } = await browser.newCustomer(options)
    onTestFinished(close)
    await page.goto(gateway.url)
    await page.getByLabel('Paid', { exact: true }).check({ force: true })
    const checkout = await buy(page, options, /Buy the straw hat/)
    const address = new URL(checkout.url()).pathname
    await checkout.getByRole('button', { name: /Pay/ }).first().click()
    await isBackInShop(page, checkout)
    await allDone(page)
    const name = `shop-refund-${screen.replaceAll(' ', '-')}`
    await shoot(`${name}-before`)
    await page.getByRole('button', { name: 'Refund it' }).click()
    await allDone(page, 9)
    expect((await whatOf(page)).slice(-2)).toEqual(['Refund requested', 'Refunded'])
    await page.getByText('The shop has returned GHS 25.00.').waitFor()
    await shoot(`${name}-after`)
    await checkLook(page)
    for (const path of ['', '/receipt']) {
      await page.goto(`${gateway.url}${address}${path}`)
      await page.locator('dd', { hasText: /GHS 25\.00, \d/ }).waitFor()
      await shoot(`${name}-paid${path.replace('/', '-')}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
    }
    expect(faults).toEqual([])
  })

test('a declined payment says so, and that nothing was taken', async () => {
  const { page, shoot, close } = await browser.newCustomer({ ...desk, scripts: false })
  onTestFinished(close)
  await page.goto(gateway.url)
  await page.getByLabel('Declined').check({ force: true })
  await buy(page, { scripts: false }, /Buy the shea butter/)
  await page.getByRole('button', { name: /Pay/ }).first().click()
  await page.goto(gateway.url)
  await expect.poll(() => page.reload().then(() => whatOf(page))).toContain('Declined on the phone')
  expect(await page.locator('.notice').innerText()).toContain('Nothing was taken')
  await shoot('shop-declined')
  await checkLook(page)
})

test('the code can be read', async () => {
  const { page, faults, shoot, close } = await browser.newCustomer(desk)
  onTestFinished(close)
  await page.goto(gateway.url)
  await page.getByRole('link', { name: /Read this shop/ }).click()
  await page.getByRole('heading', { name: 'shop.js' }).waitFor()
  await shoot('shop-code')
  await checkLook(page)
  expect(faults).toEqual([])
})
