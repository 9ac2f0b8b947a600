import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { languages } from '../../src/web/checkout/texts/texts.ts'
import * as step from '../support/journey/steps.ts'
import { openMarket } from '../support/journey.ts'

const { en, fr } = languages

const market = openMarket()

const isFrench = async (page: Page) => expect(await page.locator('html').getAttribute('lang')).toBe('fr')

market.journey(
  'a French browser is answered in French, to the receipt',
  { locale: 'fr-FR' },
  async ({ page }) => {
    const sale = await market.shopAsksFor()
    await page.goto(sale.address)
    await step.sees(page, 'Payer GHS 25.00 à Ama Shop')
    await step.payWithWallet(page, 'Telecel Cash', '', '', fr)
    await page.getByRole('alert').getByText('2 points sont à vérifier').waitFor()
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

market.journey('who chooses French keeps it while paying with a wallet', async ({ page }) => {
  const sale = await market.shopAsksFor()
  await page.goto(sale.address)
  await step.follow(page, fr.name)
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

market.journey('who chooses French keeps it across the card page', async ({ page }) => {
  const sale = await market.shopAsksFor()
  await page.goto(sale.address)
  await step.follow(page, fr.name)
  await step.payWithCard(page, { number: '4111111111111111' }, fr)
  await page.getByRole('heading', { level: 1, name: /^(Payé|Paid)$/ }).waitFor(step.eventually)
  await isFrench(page)
})

market.journey('who chooses French keeps it when cancelling', async ({ page }) => {
  const sale = await market.shopAsksFor()
  await page.goto(sale.address)
  await step.follow(page, fr.name)
  await step.follow(page, fr.choose.cancel)
  await step.sees(page, fr.cancel.title)
  await step.press(page, fr.cancel.yes)
  await step.sees(page, fr.cancelled.title)
  await isFrench(page)
})
