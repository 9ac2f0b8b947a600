import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { languages } from '../../src/core/languages/languages.ts'
import { openShopSite } from '../support/journeys/shopSite.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step
const { fr } = languages

const journeys = openJourneys()
const shop = openShopSite()

// The result, and a button that names its host.
async function stays(page: Page, place: string) {
  const before = shop.visitsTo(place).length
  await step.seesPaid(page)
  await step.reads(page, `This leads to ${shop.host()}.`)
  await page.waitForTimeout(6000) // longer than a page that leaves by itself
  await step.seesPaid(page)
  expect(shop.visitsTo(place)).toHaveLength(before)
}

describe('the return to the shop', () => {
  journeys.journey('is taken by itself once it is paid, exactly as given', async ({ page }) => {
    const success_url = shop.newPlace('thanks')
    const sale = await journeys.shopAsksFor({ success_url })
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
    await step.reads(page, `Taking you back to Ama Shop at ${shop.host()}`)
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(success_url)
    expect(shop.visitsTo(success_url)).toHaveLength(1)
    expect(shop.visitsTo(success_url)[0]?.headers.referer).toBeUndefined()
  })

  journeys.journey('is taken by itself once: whoever goes back or comes again stays', async ({ page }) => {
    const success_url = shop.newPlace('thanks')
    const sale = await journeys.shopAsksFor({ success_url })
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.sees(page, 'The shop')
    await page.goBack()
    await stays(page, success_url)
    await page.reload()
    await stays(page, success_url)
    await page.goto(sale.address)
    await stays(page, success_url)
    await step.follow(page, 'Back to Ama Shop')
    await step.sees(page, 'The shop')
    expect(shop.visitsTo(success_url)).toHaveLength(2)
  })

  journeys.journey('is taken by itself once after the card page, and after cancelling', async ({ page }) => {
    const urls = { success_url: shop.newPlace('thanks'), cancelled_url: shop.newPlace('cart') }
    const paid = await journeys.shopAsksFor(urls)
    await page.goto(paid.address)
    await step.payWithCard(page, { number: '4111111111111111' })
    await step.sees(page, 'The shop')
    await page.goto(`${paid.address}?back=1`) // as somebody who reloads the way back does
    await stays(page, urls.success_url)
    const cancelled = await journeys.shopAsksFor(urls)
    await page.goto(`${cancelled.address}/cancel?lang=fr`)
    await step.press(page, fr.cancel.yes)
    await step.reads(page, `Nous vous ramenons chez Ama Shop, à l’adresse ${shop.host()}`)
    await step.sees(page, 'The shop')
    await page.goto(cancelled.address)
    await step.sees(page, en.cancelled.title)
    await step.reads(page, `This leads to ${shop.host()}.`)
    await page.waitForTimeout(6000)
    expect(shop.visitsTo(urls.cancelled_url)).toHaveLength(1)
  })

  journeys.journey('is taken by itself on each screen that saw it', { scripts: true }, async ({ page }) => {
    const success_url = shop.newPlace('thanks')
    const sale = await journeys.shopAsksFor({ success_url })
    await page.goto(sale.address)
    await journeys.walk({}, async phone => {
      await phone.page.goto(sale.address)
      await step.payWithWallet(phone.page, 'MTN MoMo', '0240000000')
      await step.sees(phone.page, 'The shop')
    })
    await step.sees(page, 'The shop') // without a touch
    expect(shop.visitsTo(success_url)).toHaveLength(2)
  })

  journeys.journey('waits for who stays to see the receipt', async ({ page }) => {
    const success_url = shop.newPlace('thanks')
    const sale = await journeys.shopAsksFor({ success_url })
    await page.goto(sale.address)
    await step.payWithCard(page, { number: '4111111111111111' })
    await step.seesPaid(page)
    await step.follow(page, en.paid.stay)
    await step.sees(page, en.receipt.title)
    await page.waitForTimeout(5000) // longer than the page before it would have stayed
    await step.sees(page, en.receipt.title)
    await step.follow(page, en.receipt.back)
    await step.follow(page, 'Back to Ama Shop')
    await step.sees(page, 'The shop')
    expect(shop.visitsTo(success_url)).toHaveLength(1)
  })

  for (const [place, names] of [
    ['the success_url', ['success_url']],
    ['the deferred_url', ['success_url', 'deferred_url']],
  ] as const)
    journeys.journey(`leads to ${place} while nothing is known`, async ({ page }) => {
      const urls = names.map(name => [name, shop.newPlace(name)] as const)
      const sale = await journeys.shopAsksFor(Object.fromEntries(urls))
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', '0241234567')
      await step.sees(page, en.wait.prompt)
      await step.follow(page, 'Go back to Ama Shop')
      await step.sees(page, 'The shop')
      expect(page.url()).toBe(urls.at(-1)?.[1])
      expect(shop.visitsTo(page.url())[0]?.headers.referer).toBeUndefined()
      expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
    })

  journeys.journey('leads to the cancelled_url after a failure', async ({ page }) => {
    const cancelled_url = shop.newPlace('cart')
    const sale = await journeys.shopAsksFor({ cancelled_url, success_url: shop.newPlace('thanks') })
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000002')
    await step.seesFailed(page, 'insufficient_funds')
    await step.follow(page, 'Go back to Ama Shop without paying')
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(cancelled_url)
    expect(shop.visitsTo(cancelled_url)[0]?.headers.referer).toBeUndefined()
    expect(await sale.statusOf()).toMatchObject({ status: 'failed' })
  })
})

describe('an address that the merchant has not registered', () => {
  async function sellElsewhere() {
    const merchant = await journeys.gateway.addMerchant()
    const urls = { success_url: shop.newPlace('thanks'), cancelled_url: shop.newPlace('cart') }
    const sale = await journeys.shopAsksFor(urls, merchant)
    await setMerchant(journeys.gateway.db, merchant.merchant_id, ['allowed_origins=https://ama.example'])
    return { ...sale, ...urls }
  }

  journeys.journey('is not redirected to after a payment; the button names the host', async ({ page }) => {
    const sale = await sellElsewhere()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
    expect(await page.getByRole('main').innerText()).not.toContain('Taking you back')
    await page.waitForTimeout(6000)
    expect(shop.visitsTo(sale.success_url)).toEqual([])
    await step.follow(page, `Continue to ${shop.host()}`)
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(sale.success_url)
  })

  journeys.journey('is not followed by itself after cancelling', async ({ page }) => {
    const sale = await sellElsewhere()
    await page.goto(`${sale.address}/cancel`)
    await step.press(page, en.cancel.yes)
    await step.sees(page, en.cancelled.title)
    await page.waitForTimeout(1000)
    expect(shop.visitsTo(sale.cancelled_url)).toEqual([])
    await step.follow(page, `Continue to ${shop.host()}`)
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(sale.cancelled_url)
  })
})
