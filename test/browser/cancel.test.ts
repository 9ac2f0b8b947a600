import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { openShopSite } from '../support/journeys/shopSite.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

const journeys = openJourneys({ sandboxPace: 0.5 }) // a no that turns into a yes leaves time to cancel
const shop = openShopSite()

async function cancel(page: Page) {
  await step.follow(page, en.choose.cancel)
  await step.sees(page, en.cancel.title)
  await step.press(page, en.cancel.yes)
}

describe('a customer who cancels', () => {
  journeys.journey('is asked once, may say no, and ends where the shop wants', async ({ page }) => {
    const cancelled_url = shop.newPlace('cart')
    const sale = await journeys.shopAsksFor({ cancelled_url })
    await page.goto(sale.address)
    await step.follow(page, en.choose.cancel)
    await step.sees(page, en.cancel.title)
    await step.reads(page, 'Nothing was taken. You can start again at Ama Shop.')
    await step.follow(page, en.cancel.no)
    await step.sees(page, 'Pay GHS 25.00 to Ama Shop')
    expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
    await cancel(page)
    await step.sees(page, 'The shop')
    expect(page.url()).toBe(cancelled_url)
    const [visit, ...more] = shop.visitsTo(cancelled_url)
    expect(more).toEqual([])
    expect(visit?.headers.referer).toBeUndefined()
    expect(await sale.statusOf()).toMatchObject({
      status: 'cancelled',
      status_reason: 'The customer cancelled.',
    })
  })

  journeys.journey(
    'stays on the page if the shop has sent no address, and can no longer pay',
    async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await cancel(page)
      await step.sees(page, en.cancelled.title)
      await step.reads(page, en.cancelled.text)
      expect(await page.getByRole('main').getByRole('link').count()).toBe(0)
      for (const path of ['/cancel', '/receipt', '/pay', '?again=same']) {
        await page.goto(sale.address + path)
        await step.sees(page, en.cancelled.title)
      }
      expect(await sale.history()).toEqual(['cancelled'])
    },
  )

  journeys.journey('after it was paid meanwhile sees that it is', async ({ page, scripts }) => {
    const sale = await journeys.shopAsksFor({ cancelled_url: shop.newPlace('cart') })
    await page.goto(sale.address)
    await step.follow(page, en.choose.cancel)
    await step.sees(page, en.cancel.title)
    await journeys.walk({ scripts }, async other => {
      await other.page.goto(sale.address)
      await step.payWithWallet(other.page, 'MTN MoMo', '0240000000')
      await step.seesPaid(other.page)
    })
    await step.press(page, en.cancel.yes)
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['paid'])
  })

  journeys.journey('after a no that turns into a yes has paid, late', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000007')
    await sale.becomes('failed')
    await page.goto(`${sale.address}/cancel`)
    await step.press(page, en.cancel.yes)
    await step.sees(page, en.cancelled.title)
    await sale.becomes('paid')
    expect(await sale.history()).toEqual(['failed', 'cancelled', 'paid'])
    expect(await sale.isLate()).toBe(true)
    await page.goto(sale.address)
    await step.seesPaid(page)
  })

  journeys.journey('after a failure ends as cancelled', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000003')
    await step.seesFailed(page, 'declined')
    await cancel(page)
    await step.sees(page, en.cancelled.title)
    expect(await sale.history()).toEqual(['failed', 'cancelled'])
  })
})

describe('a customer who cancels while the phone shows the request', () => {
  for (const [decision, status, status_reason] of [
    ['Decline', 'cancelled', 'The customer cancelled.'],
    ['Approve', 'paid', ''],
  ] as const)
    journeys.journey(`leaves at once, and a later ${decision} makes it ${status}`, async ({ page }) => {
      const cancelled_url = shop.newPlace('cart')
      const sale = await journeys.shopAsksFor({ cancelled_url })
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', '0241234567')
      await step.sees(page, en.wait.prompt)
      const [attempt] = await sale.attempts()
      await step.takeExit(page, 'cancel')
      await step.reads(page, 'it counts as paid and Ama Shop is told')
      await step.press(page, en.cancel.yes)
      await step.sees(page, 'The shop')
      expect(page.url()).toBe(cancelled_url)
      expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
      await page.goto(`${journeys.gateway.url}/sandbox/phone/${attempt?.attempt_id}`)
      await step.answerPrompt(page, decision)
      await sale.becomes(status)
      expect(await sale.statusOf()).toMatchObject({ status, status_reason })
      expect(await sale.history()).toEqual([status])
      expect(await sale.isLate()).toBe(false) // it was never said to be cancelled
      if (decision === 'Decline') return
      await page.goto(sale.address)
      await step.seesPaid(page)
    })

  journeys.journey('and the shop named no place sees how it ends', async ({ page, scripts }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0241234567')
    await step.sees(page, en.wait.prompt)
    const [attempt] = await sale.attempts()
    await step.takeExit(page, 'cancel')
    await step.sees(page, en.cancel.title)
    await step.press(page, en.cancel.yes)
    await step.sees(page, en.cancelled.title)
    await step.reads(page, 'If the money still arrives, it counts as paid and Ama Shop is told.')
    await journeys.walk({ scripts }, async other => {
      await other.page.goto(`${journeys.gateway.url}/sandbox/phone/${attempt?.attempt_id}`)
      await step.answerPrompt(other.page, 'Approve')
    })
    await sale.becomes('paid')
    if (!scripts) await page.reload() // nothing is left to wait for: only a script looks again
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['paid'])
  })
})
