import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

// A wallet that answers automatically is paid after ten seconds, and its request cannot be withdrawn.
const journeys = openJourneys({ sandboxPace: 0.5 })
const paidLater = '0241234006'

const asksThePhone = async (page: Page, address: string, number = '0241234567') => {
  await page.goto(address)
  await step.payWithWallet(page, 'MTN MoMo', number)
  await step.sees(page, en.wait.prompt)
}

describe('a customer who does not want to wait', () => {
  journeys.journey('typed a wrong number, types the right one, and pays once', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ number: '0241234567' })
    await asksThePhone(page, sale.address)
    await step.takeExit(page, 'number')
    await step.reads(page, en.wait.old_ended)
    expect(await page.getByRole('radio', { name: 'MTN MoMo' }).isChecked()).toBe(true)
    expect(await step.phoneField(page).inputValue()).toBe('')
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['paid'])
    expect((await sale.attempts()).map(({ state, reason }) => reason ?? state)).toEqual(['withdrawn', 'paid'])
  })

  journeys.journey('chooses another way', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await asksThePhone(page, sale.address)
    await step.takeExit(page, 'method')
    await step.reads(page, en.wait.old_ended)
    for (const radio of await page.getByRole('radio').all()) expect(await radio.isChecked()).toBe(false)
    await step.payWithCard(page, { number: '4111111111111111' })
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['paid'])
  })

  journeys.journey('approves it all the same: it counts, and nothing else was asked', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await asksThePhone(page, sale.address, paidLater)
    await step.takeExit(page, 'number')
    await step.sees(page, en.wait.ending)
    await step.reads(
      page,
      'We are ending the request to 024 ••• 4006. If you approve it on that phone, it counts.',
    )
    await step.reads(page, 'Otherwise you can go on at about')
    expect(await page.locator('.problem a.danger').count()).toBe(1)
    await step.seesPaid(page)
    expect(await sale.charges()).toHaveLength(1)
    expect(await sale.history()).toEqual(['paid'])
  })

  journeys.journey(
    'waits for a provider that cannot withdraw, and the page continues without a click',
    async ({ page }) => {
      const sale = await journeys.shopAsksFor({ total: '0.02' }) // nobody can ask for four seconds, then it has failed
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', '0241234567')
      await step.takeExit(page, 'number')
      await step.sees(page, en.wait.ending)
      await page.getByText(en.wait.old_ended).waitFor(step.eventually)
      expect(await step.phoneField(page).inputValue()).toBe('')
      expect(await sale.history()).toEqual([])
    },
  )

  journeys.journey('on two screens sees the same on both', async ({ page, scripts }) => {
    const sale = await journeys.shopAsksFor()
    await asksThePhone(page, sale.address)
    await journeys.walk({ scripts }, async other => {
      await other.page.goto(sale.address)
      await step.takeExit(other.page, 'method')
      await step.reads(other.page, en.wait.old_ended)
    })
    await page.getByText(en.wait.old_ended).waitFor(step.eventually)
  })

  journeys.journey('may scan a code instead, and leave that too', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'GhQR')
    await step.pressPay(page)
    await step.sees(page, en.wait.qr)
    expect(await page.locator('.problem [value=number]').count()).toBe(0)
    await step.takeExit(page, 'method')
    await step.reads(page, en.wait.old_ended)
  })
})

describe('the request', () => {
  test.concurrent('shows the time left as a bar and as text, also after a reload', async () => {
    const sale = await journeys.shopAsksFor()
    await journeys.walk({}, async ({ page }) => {
      await asksThePhone(page, sale.address)
      const bar = page.locator('progress')
      const left = async () => Number(await bar.evaluate((element: any) => element.value))
      const words = () => page.locator('.ends .left').innerText()
      await expect.poll(left).toBeLessThan(298)
      expect(await words()).toMatch(/^4:\d\d$/)
      await page.reload()
      expect(await left()).toBeLessThan(299)
      expect(await page.locator('.problem a[href^=tel]').getAttribute('href')).toBe('tel:*170%23')
      expect(await page.locator('.bill [data-left]').count()).toBe(0)
    })
  })

  test.concurrent('shows that it has ended, while the provider is polled', async () => {
    const sale = await journeys.shopAsksFor()
    await journeys.walk({}, async ({ page }) => {
      await asksThePhone(page, sale.address)
      const html = (await page.content()).replaceAll(/data-ends="\d+"/g, 'data-ends="2"')
      await page.route(page.url(), route => route.fulfill({ body: html, contentType: 'text/html' }), {
        times: 1,
      })
      await page.reload()
      await step.reads(page, 'The request has ended. We are asking MTN MoMo whether it was approved.')
    })
  })
})

describe('after a return from the card page', () => {
  journeys.journey('with the answer open, nobody is told to pay', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'Card')
    await step.pressPay(page)
    await page.getByLabel('Card number').waitFor()
    await page.goto(`${sale.address}?back=1`)
    await step.sees(page, en.wait.bank)
    await step.reads(page, 'Do not pay again')
    expect(await page.getByRole('link', { name: en.wait.to_card }).count()).toBe(0)
    await step.takeExit(page, 'unfinished')
    await step.sees(page, en.wait.redirect)
    await step.follow(page, en.wait.to_card)
    await step.typeCard(page, { number: '4111111111111111' })
    await step.seesPaid(page)
    expect(await sale.attempts()).toHaveLength(1)
  })

  journeys.journey('the bank’s late answer is seen', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithCard(page, { number: '4000 0000 0000 0119' })
    await step.seesPaid(page)
    expect(await sale.charges()).toHaveLength(1)
  })
})

journeys.journey('a failure that turns into money is seen by whoever stays', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.payWithWallet(page, 'MTN MoMo', '0240000007')
  await step.sees(page, en.reasons.refused.title)
  await step.seesPaid(page)
  expect(await sale.history()).toEqual(['failed', 'paid'])
})
