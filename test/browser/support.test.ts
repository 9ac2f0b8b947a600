import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { overflow, smallTargets } from '../support/browser/measure.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser.ts'
import { after, minutes, no } from '../support/lifeRows.ts'
import { openShop, type TestShop } from '../support/shop.ts'
import { type SupportSite, supportSite } from '../support/supportSite.ts'

let browser: TestBrowser
let shop: TestShop
let site: SupportSite

beforeAll(async () => {
  shop = await openShop()
  const merchant = await shop.addMerchant('Ama Shop with a rather long name of its own')
  shop.setNow(after(-minutes(5), new Date()))
  const payment = await shop.ask(merchant, { invoice_id: 'AMA-1', description: 'x'.repeat(100) })
  await shop.try(payment, no)
  shop.setNow(new Date())
  await shop.try(payment, {
    state: 'pending',
    provider_ref: '9f2c1b7e-55aa-4a35-9d1e-0c9a6f1b2d3e'.repeat(2),
  })
  await shop.ask(merchant, { invoice_id: 'SAME' })
  await shop.ask(merchant, { invoice_id: 'SAME' }, 'test')
  site = await supportSite(shop.runtime)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  site?.stop()
  await shop.stop()
})

const screens: [string, CustomerOptions][] = [
  ['the smallest phone', { width: 320 }],
  ['a phone at night', { dark: true }],
  ['a desk', { width: 1280, height: 800 }],
]
const pages: [string, string][] = [
  ['ask', '/support'],
  ['payment', '/support?q=AMA-1'],
  ['choice', '/support?q=SAME'],
  ['nothing', `/support?q=${'N'.repeat(150)}`],
]

for (const [screen, options] of screens)
  for (const [name, path] of pages)
    test(`the ${name} page can be used on ${screen}`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
      onTestFinished(close)
      await page.goto(site.url + path)
      await shoot(`support-${name}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect(await smallTargets(page)).toEqual([])
      expect(faults.filter(fault => !fault.includes('404'))).toEqual([])
    })

test('who types a reference finds the payment', async () => {
  const { page, close } = await browser.newCustomer({ scripts: false })
  onTestFinished(close)
  await page.goto(`${site.url}/support`)
  await page.getByLabel('Reference or invoice id').fill('AMA-1')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByRole('heading', { name: 'What happens next' }).waitFor()
  expect(await page.title()).toMatch(/^TG-.*, awaiting_payment · Tollgate support$/)
})
