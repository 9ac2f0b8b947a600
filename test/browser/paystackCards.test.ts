import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { newNumber, openPaystackJourneys, payByNumber } from '../support/journeys/providerJourneys.ts'
import type { Sale } from '../support/journeys/sale.ts'
import * as step from '../support/journeys/steps.ts'

const { en } = step
const email = 'kofi@example.test'

const journeys = openPaystackJourneys()

const emailField = (page: Page) => page.getByRole('textbox', { name: en.fields.email.label })

const chargesOf = async (sale: Sale) => {
  const keys = (await sale.attempts()).map(({ idempotency_key, attempt_id }) => idempotency_key ?? attempt_id)
  return journeys.provider.book().filter(({ reference }) => keys.includes(reference))
}

// On the provider's page, which is another site.
async function atCardPage(page: Page) {
  const sale = await journeys.shopAsksFor({ email })
  await page.goto(sale.address)
  await step.choose(page, 'Card')
  await step.pressPay(page)
  await step.sees(page, 'Simulated Paystack') // without a second press
  expect(new URL(page.url()).origin).toBe(journeys.provider.url)
  return sale
}

async function isPaidByCard(sale: Sale, page: Page) {
  await step.seesPaid(page)
  expect(new URL(page.url()).origin).toBe(journeys.gateway.url)
  expect(await sale.history()).toEqual(['paid'])
  expect(await sale.statusOf()).toMatchObject({ payment_method: 'card' })
  expect(await chargesOf(sale)).toMatchObject([{ ended: 'success', email }])
}

describe("a card by Paystack's page", () => {
  journeys.everywhere('is paid there, and the customer is back', async ({ page }) => {
    const sale = await atCardPage(page)
    await step.press(page, 'Pay with Visa 4081')
    await isPaidByCard(sale, page)
  })

  journeys.everywhere('is left unfinished, and found again', async ({ page }) => {
    const sale = await atCardPage(page)
    await step.press(page, 'Leave without paying')
    await step.sees(page, en.wait.bank)
    await step.takeExit(page, 'unfinished')
    await step.sees(page, en.wait.redirect)
    await step.follow(page, en.wait.to_card)
    await step.press(page, 'Pay with Visa 4081')
    await isPaidByCard(sale, page)
    expect(await sale.attempts()).toHaveLength(1)
  })

  journeys.everywhere('fails there, and a wallet pays', async ({ page }) => {
    const sale = await atCardPage(page)
    await step.press(page, 'Pay with a card that is declined')
    await page.getByRole('alert').getByText('Not paid: Declined').waitFor()
    await step.press(page, 'Leave without paying')
    await step.seesFailed(page, 'card_declined')
    await step.follow(page, en.failed.other)
    const number = newNumber('026')
    await payByNumber(page, 'AT Money', number)
    await step.sees(page, en.wait.prompt)
    journeys.provider.approve(journeys.provider.book().find(({ phone }) => phone === number)?.reference ?? '')
    await step.seesPaid(page)
    const endings = (await sale.attempts()).map(({ reason, state }) => reason ?? state)
    expect(endings).toEqual(['card_declined', 'paid'])
  })
})

describe('the email address that Paystack requires', () => {
  journeys.everywhere('is asked for where the shop sent none', async ({ page }) => {
    const number = newNumber()
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await payByNumber(page, 'MTN MoMo', number)
    await page.getByRole('alert').getByText(`${en.fields.email.label}: please fill this in.`).waitFor()
    expect(await step.phoneField(page).inputValue()).toBe(number)
    await emailField(page).fill('kofi at example')
    await step.pressPay(page)
    await page.getByRole('alert').getByText('this is not an email address').waitFor()
    expect(await emailField(page).inputValue()).toBe('kofi at example')
    await emailField(page).fill(email)
    await step.pressPay(page)
    await step.sees(page, en.wait.prompt)
    const [charge] = await chargesOf(sale)
    expect(charge).toMatchObject({ email, phone: number })
    journeys.provider.approve(charge?.reference ?? '')
    await step.seesPaid(page)
    expect(journeys.gateway.logs.join('\n')).not.toContain(email)
  })

  journeys.everywhere('is asked for by the card, too, and by nobody where it is known', async ({ page }) => {
    const known = await journeys.shopAsksFor({ email })
    await page.goto(known.address)
    await step.choose(page, 'Card')
    expect(await emailField(page).count()).toBe(0)
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.choose(page, 'Card')
    await emailField(page).fill(email)
    await step.pressPay(page)
    await step.press(page, 'Pay with Visa 4081')
    await isPaidByCard(sale, page)
  })
})
