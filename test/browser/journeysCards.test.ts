import { describe, expect } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

const journeys = openJourneys()

describe('the card', () => {
  const honour = "The customer's bank did not honour the card."
  const secure = 'The customer did not pass the 3-D Secure step.'
  for (const [number, more, ending, reason, code, msg] of [
    ['4000 0000 0000 0002', {}, 'card_declined', honour, '05', 'Do not honour'],
    [
      '5105 1051 0510 5100',
      {},
      'insufficient_funds',
      'Not enough money in the account.',
      '51',
      'Insufficient funds',
    ],
    ['4000 0000 0000 0069', {}, 'card_expired', 'The card has expired.', '54', 'Expired card'],
    ['4000 0000 0000 0127', {}, 'wrong_cvv', 'The CVV of the card was wrong.', '82', 'Wrong CVV'],
    ['4111 1111 1111 1111', { cvv: '321' }, 'wrong_cvv', 'The CVV of the card was wrong.', '82', 'Wrong CVV'],
    ['4242 4242 4242 4242', { code: '000000' }, 'not_authenticated', secure, '1A', 'Not authenticated'],
    ['4000 0000 0000 0119', {}, en.paid.title, '', '00', 'Approved'],
  ] as const)
    journeys.journey(`${number} ${JSON.stringify(more)}`, async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.payWithCard(page, { number, ...more })
      await step.seesEnding(page, ending)
      const status = await sale.statusOf()
      expect(status).toMatchObject({
        status: ending === en.paid.title ? 'paid' : 'failed',
        status_reason: reason,
        payment_method: 'card',
        payment_instrument: `${number.startsWith('4') ? 'Visa' : 'Mastercard'} •••• ${number.slice(-4)}`,
        extra: { psp_response_code: code, psp_response_msg: msg },
      })
      expect(journeys.gateway.logs.join('\n')).not.toContain(number.replaceAll(' ', ''))
    })
})

describe('the card page', () => {
  journeys.journey('is cancelled', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'Card')
    await step.pressPay(page)
    await step.press(page, 'Cancel and go back')
    await step.seesFailed(page, 'not_completed')
    const nothing = { psp_response_code: null, psp_response_msg: null }
    expect(await sale.statusOf()).toMatchObject({
      status: 'failed',
      status_reason: 'The customer turned back at the card page.',
      extra: nothing,
    })
  })

  journeys.journey('is left by the back button and found again', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'Card')
    await step.pressPay(page)
    await page.getByLabel('Card number').waitFor()
    await page.goto(sale.address)
    await step.sees(page, en.wait.redirect)
    await step.follow(page, en.wait.to_card)
    await step.typeCard(page, { number: '4111111111111111' })
    await step.seesPaid(page)
    expect(await sale.attempts()).toHaveLength(1)
  })
})
