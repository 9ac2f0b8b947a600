import { describe, expect, test } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'
import { send } from '../support/merchant/merchant.ts'

const { en } = step

const journeys = openJourneys()

describe('two devices', () => {
  journeys.journey('what is open on the desk follows the phone', { scripts: true }, async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await journeys.walk({}, async phone => {
      await phone.page.goto(sale.address)
      await step.payWithWallet(phone.page, 'MTN MoMo', '0240000000')
      await step.seesPaid(phone.page)
    })
    await step.seesPaid(page) // without a touch
  })

  journeys.journey(
    'an old form finds the attempt of the other device, and both end as paid',
    async ({ page, scripts }) => {
      const sale = await journeys.shopAsksFor()
      await step.staysOld(page)
      await page.goto(sale.address)
      await step.fillWallet(page, 'AT Money', '0260000003')
      await journeys.walk({ scripts }, async other => {
        await other.page.goto(sale.address)
        await step.payWithWallet(other.page, 'MTN MoMo', '0241234567')
        await step.sees(other.page, en.wait.prompt)
        await step.pressPay(page)
        await page.unroute('**/state*')
        await step.sees(page, en.wait.prompt)
        await step.reads(page, 'is asking 024 ••• 4567 to pay')
        await step.decideOnTestPhone(page, 'Approve')
        await Promise.all([step.seesPaid(page), step.seesPaid(other.page)])
      })
      expect(await sale.attempts()).toMatchObject([{ payment_method: 'mtn_mobile_money', state: 'paid' }])
      expect(await sale.charges()).toHaveLength(1)
      expect(await sale.history()).toEqual(['paid'])
    },
  )

  journeys.journey(
    'an old form of a payment that has failed meanwhile starts no attempt',
    async ({ page, scripts }) => {
      const sale = await journeys.shopAsksFor()
      await step.staysOld(page)
      await page.goto(sale.address)
      await step.fillWallet(page, 'AT Money', '0260000000')
      await journeys.walk({ scripts }, async other => {
        await other.page.goto(sale.address)
        await step.payWithWallet(other.page, 'MTN MoMo', '0240000003')
        await step.seesFailed(other.page, 'declined')
      })
      await step.pressPay(page)
      await step.seesFailed(page, 'declined')
      expect(await sale.attempts()).toHaveLength(1)
    },
  )
})

describe('a double click', () => {
  journeys.journey('two rapid clicks are one attempt and one charge', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.fillWallet(page, 'MTN MoMo', '0240000000')
    await page.getByRole('button', { name: /^Pay GHS/ }).dblclick({ noWaitAfter: true })
    await step.seesPaid(page)
    expect(await sale.attempts()).toHaveLength(1)
    expect(await sale.charges()).toHaveLength(1)
  })

  journeys.journey('two rapid clicks on the card page are one charge', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'Card')
    await page.getByRole('button', { name: /^Pay GHS/ }).dblclick({ noWaitAfter: true })
    await page.getByLabel('Card number').fill('4111111111111111')
    await page.getByLabel('Expiry date').fill('09/40')
    await page.getByLabel('CVV').fill('123')
    await page.getByRole('button', { name: /^Pay GHS/ }).dblclick({ noWaitAfter: true })
    await step.seesPaid(page)
    expect(await sale.charges()).toHaveLength(1)
  })

  test.concurrent('the same form posted ten times at once is one attempt and one charge', async () => {
    const sale = await journeys.shopAsksFor()
    const typed = { number: '1', payment_method: 'mtn_mobile_money', 'mtn_mobile_money.phone': '0241234567' }
    const press = () => send(`${sale.address}/pay`, { method: 'POST', body: new URLSearchParams(typed) })
    const answers = await Promise.all(Array.from({ length: 10 }, press))
    for (const { http, headers } of answers)
      expect([http, headers.get('location')]).toEqual([303, new URL(sale.address).pathname])
    expect(await sale.attempts()).toHaveLength(1)
    expect(await sale.charges()).toHaveLength(1)
  })

  journeys.journey('going back after it is paid and pressing again shows paid', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await step.seesPaid(page)
    await page.goBack()
    const payAgain = page.getByRole('button', { name: /^Pay GHS/ })
    if (await payAgain.isVisible()) {
      await step.fillWallet(page, 'MTN MoMo', '0240000000')
      await payAgain.click()
    }
    await step.seesPaid(page)
    expect(await sale.attempts()).toHaveLength(1)
    expect(await sale.charges()).toHaveLength(1)
  })
})
