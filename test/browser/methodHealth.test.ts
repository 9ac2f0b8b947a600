import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HealthRow, newHealthRow } from '../../src/core/provider/health.ts'
import { saveHealth } from '../../src/store/providers/health.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { shopOf } from '../support/checkout/stages.ts'

// The health that another node has written to the database.
let gateway: TestGateway
let browser: TestBrowser
let address: string

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([testGateway(), openBrowser()])
  const shop = shopOf(gateway)
  address = shop.at(await shop.ask(await shop.merchant('Ama Shop'), { description: 'Two straw hats' }))
})
afterAll(async () => {
  await browser?.close()
  await gateway?.stop()
})

const told = (payment_method: string, seen: Partial<HealthRow>): HealthRow => ({
  ...newHealthRow('sandbox', payment_method, new Date()),
  ...seen,
})

const troubles = () => [
  told('mtn_mobile_money', { answered: 8, late: 4 }),
  told('card', { answered: 1, unanswered: 9 }),
]

for (const [name, options] of [
  ['a phone', {}],
  ['a phone in the dark, in French', { dark: true, locale: 'fr-FR' }],
  ['a desk', { width: 1280, height: 800 }],
  ['a desk in the dark', { width: 1280, height: 800, dark: true }],
] as const)
  test(`methods with problems are labelled and come last, on ${name}`, { timeout: 90_000 }, async () => {
    await saveHealth(gateway.db, 'another', troubles())
    const { page, shoot, close } = await browser.newCustomer(options)
    const ways = async () => {
      await page.goto(address)
      return page.locator('.method > input').evaluateAll(all => all.map(({ id }) => id))
    }
    await expect
      .poll(ways, { timeout: 30_000 })
      .toEqual(['telecel_cash', 'airteltigo_money', 'ghqr', 'mtn_mobile_money', 'card'])
    expect(await page.locator('.trouble').allInnerTexts()).toHaveLength(2)
    await page.locator('#mtn_mobile_money').check()
    expect(await overflow(page)).toBe(false)
    expect([...(await axeFaults(page)), ...(await smallTargets(page))]).toEqual([])
    await shoot('choose-troubled')
    await close()
  })

test('an unavailable method cannot be chosen', { timeout: 90_000 }, async () => {
  await saveHealth(gateway.db, 'another', [told('card', { rest_until: new Date(Date.now() + 300_000) })])
  const { page, shoot, close } = await browser.newCustomer()
  const shut = async () => {
    await page.goto(address)
    return page.locator('.method > input:disabled').count()
  }
  await expect.poll(shut, { timeout: 30_000 }).toBe(5)
  expect(await axeFaults(page)).toEqual([])
  await shoot('choose-shut')
  await close()
})
