import { describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step
const asking = 'We are asking MTN MoMo'
const lost = "The provider lost its connection to the customer's network."

// As fast as possible, while a hanging answer still takes longer than the timeout of the gateway.
const journeys = openJourneys({ sandboxPace: 0.5 })

describe('a total of', () => {
  for (const [total, titles, status, status_reason] of [
    ['0.01', [asking, 'no_answer'], 'failed', 'The customer did not approve in time.'],
    ['0.02', [asking, 'network_error'], 'failed', lost],
    ['0.03', ['insufficient_funds'], 'failed', 'Not enough money in the account.'],
    ['0.04', ['declined'], 'failed', 'The customer declined on the phone.'],
    ['0.05', [en.wait.prompt, en.paid.title], 'paid', ''],
  ] as const)
    journeys.journey(total, async ({ page }) => {
      const sale = await journeys.shopAsksFor({ total })
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', '0240000000')
      for (const title of titles) {
        await step.seesEnding(page, title)
        if (title === asking) await step.reads(page, 'Do not pay again: we keep checking.')
      }
      expect(await sale.statusOf()).toMatchObject({ status, status_reason })
      expect(await sale.history()).toEqual([status])
    })

  journeys.journey('0.03 by GhQR', async ({ page }) => {
    const sale = await journeys.shopAsksFor({ total: '0.03' })
    await page.goto(sale.address)
    await step.choose(page, 'GhQR')
    await step.pressPay(page)
    await step.seesFailed(page, 'insufficient_funds')
    expect(await sale.statusOf()).toMatchObject({ status: 'failed', payment_method: 'ghqr' })
  })
})
