import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const journeys = openJourneys()

const { en } = step
const wallet = (way: step.Wallet, number: string) => (page: Page) => step.payWithWallet(page, way, number)
const card = (number: string, code?: string) => (page: Page) => step.payWithCard(page, { number, code })

async function scan(page: Page) {
  await step.choose(page, 'GhQR')
  await step.pressPay(page)
  await step.sees(page, en.wait.qr)
  await page.getByRole('img', { name: en.wait.qr }).waitFor()
  await step.decideOnTestPhone(page, 'Approve')
}

describe('a customer pays by', () => {
  for (const [name, pay, payment_method, payment_instrument] of [
    ['MTN MoMo', wallet('MTN MoMo', '0240000000'), 'mtn_mobile_money', '024 ••• 0000'],
    ['Telecel Cash', wallet('Telecel Cash', '0200000000'), 'telecel_cash', '020 ••• 0000'],
    ['AT Money', wallet('AT Money', '0260000000'), 'airteltigo_money', '026 ••• 0000'],
    ['Visa', card('4111 1111 1111 1111'), 'card', 'Visa •••• 1111'],
    ['Mastercard', card('5555 5555 5555 4444'), 'card', 'Mastercard •••• 4444'],
    ['3-D Secure', card('4242 4242 4242 4242', '246810'), 'card', 'Visa •••• 4242'],
    ['GhQR', scan, 'ghqr', null],
  ] as const)
    journeys.journey(name, async ({ page }) => {
      const sale = await journeys.shopAsksFor({ description: 'Two straw hats' })
      await page.goto(sale.address)
      await step.sees(page, 'Pay GHS 25.00 to Ama Shop')
      await pay(page)
      await step.seesPaid(page)
      const status = await sale.statusOf()
      const isCard = payment_method === 'card'
      expect(status).toMatchObject({
        status: 'paid',
        status_reason: '',
        payment_method,
        payment_instrument,
      })
      expect(status).toMatchObject({ amount: 25, total_amount_charged: 25, tran_type: 'test' })
      expect(status.extra).toMatchObject({
        card_type: isCard ? payment_instrument?.split(' ')[0] : null,
        psp_response_code: isCard ? '00' : null,
        psp_response_msg: isCard ? 'Approved' : null,
      })
      await step.follow(page, en.paid.see)
      await step.sees(page, en.receipt.title)
      for (const fact of [sale.tx_reference, status.payment_reference, 'Ama Shop', 'Two straw hats'])
        await step.reads(page, fact)
      await step.reads(page, isCard ? payment_instrument : `${name} ${payment_instrument ?? ''}`.trim())
      expect(await sale.history()).toEqual(['paid'])
      expect(await sale.charges()).toHaveLength(1)
    })
})
