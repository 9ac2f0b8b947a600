import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { languages } from '../../src/core/languages/languages.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en, fr } = languages

const journeys = openJourneys()

const isFrench = async (page: Page) => expect(await page.locator('html').getAttribute('lang')).toBe('fr')

journeys.journey(
  'a French browser gets French pages, including the receipt',
  { locale: 'fr-FR' },
  async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.sees(page, 'Payer 25,00 GHS à Ama Shop')
    await step.payWithWallet(page, 'Telecel Cash', '', '', fr)
    await page.getByRole('alert').getByText('2 points à vérifier').waitFor()
    await step.payWithWallet(page, 'Telecel Cash', '0201234567', undefined, fr)
    await step.sees(page, fr.wait.prompt)
    await step.decideOnTestPhone(page, 'Decline', fr)
    await step.sees(page, fr.reasons.declined.title)
    await step.follow(page, fr.failed.again)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000', undefined, fr)
    await step.seesPaid(page, fr)
    await step.follow(page, fr.paid.see)
    await step.sees(page, fr.receipt.title)
    await step.reads(page, sale.tx_reference)
    await isFrench(page)
  },
)

journeys.journey('who chooses French keeps it while paying with a wallet', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.press(page, fr.name)
  await step.payWithWallet(page, 'MTN MoMo', '', undefined, fr)
  await page.getByRole('alert').getByText(fr.faults.title).waitFor()
  await step.payWithWallet(page, 'MTN MoMo', '0240000003', undefined, fr)
  await step.sees(page, fr.reasons.declined.title)
  await step.follow(page, fr.failed.other)
  await step.payWithWallet(page, 'AT Money', '0260000000', undefined, fr)
  await step.seesPaid(page, fr)
  await step.follow(page, fr.paid.see)
  await step.sees(page, fr.receipt.title)
  await isFrench(page)
  await step.follow(page, en.name)
  await step.sees(page, en.receipt.title)
})

journeys.journey('who chooses French keeps it across the card page', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.press(page, fr.name)
  await step.payWithCard(page, { number: '4111111111111111' }, fr)
  await page.getByRole('heading', { level: 1, name: /^(Payé|Paid)$/ }).waitFor(step.eventually)
  await isFrench(page)
})

journeys.journey('who chooses French keeps it when cancelling', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.press(page, fr.name)
  await step.follow(page, fr.choose.cancel)
  await step.sees(page, fr.cancel.title)
  await step.press(page, fr.cancel.yes)
  await step.sees(page, fr.cancelled.title)
  await isFrench(page)
})

journeys.journey('who changes the language keeps what was typed and chosen', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.fillWallet(page, 'Telecel Cash', '0200000000', '24')
  await step.press(page, fr.name)
  await isFrench(page)
  expect(page.url()).not.toMatch(/0200000000|24$/)
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await step.phoneField(page, fr).inputValue()).toBe('0200000000')
  const voucher = page.getByRole('textbox', { name: fr.fields.voucher_code.label })
  expect(await voucher.inputValue()).toBe('24')
  await step.press(page, en.name)
  expect(await step.phoneField(page).inputValue()).toBe('0200000000')
  await step.press(page, fr.name)
  await voucher.fill('246810')
  expect(await sale.attempts()).toEqual([])
  await step.pressPay(page, fr)
  await step.seesPaid(page, fr)
  expect(await sale.attempts()).toHaveLength(1)
})

journeys.journey('the Enter key pays, and does not change the language', async ({ page }) => {
  const sale = await journeys.shopAsksFor()
  await page.goto(sale.address)
  await step.fillWallet(page, 'MTN MoMo', '0240000000')
  await step.phoneField(page).press('Enter')
  await step.seesPaid(page)
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  expect(await sale.attempts()).toHaveLength(1)
})

journeys.journey('the card page and the test phone speak the language of the checkout', async ({ page }) => {
  const { card, prompt } = fr.sandbox
  const sale = await journeys.shopAsksFor()
  await page.goto(`${sale.address}?lang=fr`)
  await step.choose(page, 'GhQR')
  await step.pressPay(page, fr)
  await step.sees(page, fr.wait.qr)
  const [phone] = await Promise.all([
    page.context().waitForEvent('page'),
    step.follow(page, fr.wait.test_phone),
  ])
  await step.press(phone, prompt.decline)
  await step.sees(phone, fr.sandbox.endings.declined)
  await isFrench(phone)
  await phone.close()
  await step.sees(page, fr.reasons.declined.title)
  await step.follow(page, fr.failed.other)
  await page.getByRole('radio', { name: fr.names.card }).check()
  await step.pressPay(page, fr)
  await page.getByRole('button', { name: /^Payer/ }).click()
  await page.getByRole('alert').getByText(card.check).waitFor()
  await isFrench(page)
  await step.typeCard(page, { number: '4242424242424242', code: '000000' }, fr)
  await step.sees(page, fr.reasons.not_authenticated.title)
  await isFrench(page)
})
