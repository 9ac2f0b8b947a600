import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { languages } from '../../src/core/languages/languages.ts'
import { openShopSite } from '../support/journeys/shopSite.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

declare const document: any // the functions given to evaluate() run in the browser

const { en, fr } = languages

const journeys = openJourneys()
const site = openShopSite()

const stayMs = 6000 // longer than a page that leaves takes

journeys.journey('who comes again from the shop finds the receipt, which leads back', async ({ page }) => {
  const success_url = site.newPlace('thanks')
  const sale = await journeys.shopAsksFor({ success_url })
  await page.goto(sale.address)
  await step.payWithWallet(page, 'MTN MoMo', '0240000000')
  await step.seesPaid(page)
  await page.waitForURL(success_url, step.eventually)
  await page.goto(sale.address)
  await step.seesPaid(page)
  await step.follow(page, en.paid.see)
  await step.sees(page, en.receipt.title)
  await page.getByRole('link', { name: 'Back to Ama Shop' }).click()
  await page.waitForURL(success_url, step.eventually)
})

journeys.journey(
  'the receipt of a message does not redirect, also on another device',
  async ({ page, scripts }) => {
    const sale = await journeys.shopAsksFor({ success_url: site.newPlace('thanks') })
    await page.goto(sale.address)
    await step.press(page, en.test.endings.paid)
    await sale.becomes('paid')
    const other = await journeys.newCustomer({ scripts, width: 1280 })
    for (const address of [`${sale.address}/receipt`, sale.address]) {
      await other.page.goto(address)
      await other.page.waitForTimeout(stayMs)
      expect(other.page.url()).toBe(address)
    }
    await other.close()
  },
)

journeys.journey('with scripts, a button copies the reference', async ({ page, scripts }) => {
  const sale = await journeys.shopAsksFor()
  await page.addInitScript('navigator.clipboard.writeText = async text => void (window.copied = text)')
  await page.goto(sale.address)
  await step.press(page, en.test.endings.paid)
  await step.seesPaid(page)
  await step.follow(page, en.paid.see)
  await step.sees(page, en.receipt.title)
  const button = page.getByRole('button', { name: en.receipt.copy })
  expect(await button.isVisible()).toBe(scripts)
  if (!scripts) return
  await button.click()
  await page.getByRole('button', { name: en.receipt.copied }).waitFor()
  expect(await page.evaluate('window.copied')).toBe(sale.tx_reference)
})

// The first bytes of a PNG, and its width and height.
const sizeOf = (png: Buffer) => [png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]

journeys.journey('a phone saves the code that it should scan', { locale: 'fr-FR' }, async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.choose(page, 'GhQR')
  await step.pressPay(page, fr)
  await step.sees(page, fr.wait.qr)
  await step.reads(page, fr.wait.qr_here)
  const [saved] = await Promise.all([page.waitForEvent('download'), step.follow(page, fr.wait.qr_save)])
  expect(saved.suggestedFilename()).toBe(`${sale.tx_reference}.png`)
  const [kind, width, height] = sizeOf(readFileSync(await saved.path()))
  expect([kind, width]).toEqual(['PNG', height])
  await step.sees(page, fr.wait.qr) // the page is still there
})

test('a wide screen shows only the code', async () => {
  const { page, close } = await journeys.newCustomer({ width: 1280, height: 800 })
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.choose(page, 'GhQR')
  await step.pressPay(page)
  await step.sees(page, en.wait.qr)
  expect(await page.locator('.qr').first().isVisible()).toBe(true)
  expect(await page.locator('[download]').isVisible()).toBe(false)
  await close()
})

// The decoded picture has the same code as the page.
test('the saved code is a picture that a browser can draw', async () => {
  const { page, close } = await journeys.newCustomer()
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.choose(page, 'GhQR')
  await step.pressPay(page)
  await step.sees(page, en.wait.qr)
  const drawn = await page.evaluate(async () => {
    const image = document.createElement('img')
    image.src = document.querySelector('[download]').href
    await image.decode()
    return [image.naturalWidth, image.naturalHeight]
  })
  expect(drawn[0]).toBeGreaterThan(200)
  expect(drawn[0]).toBe(drawn[1])
  await close()
})
