import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Sale } from '../support/journeys/sale.ts'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'

const { en } = step

// As fast as possible, while a hanging answer still takes longer than the timeout of the gateway.
const journeys = openJourneys({ sandboxPace: 0.5 })

describe('a wallet that ends in', () => {
  for (const [digits, titles, status, status_reason, history] of [
    ['001', [en.paid.title], 'paid', '', ['paid']],
    ['002', ['insufficient_funds'], 'failed', 'Not enough money in the account.', ['failed']],
    ['003', ['declined'], 'failed', 'The customer declined on the phone.', ['failed']],
    ['004', [en.wait.prompt, 'no_answer'], 'failed', 'The customer did not approve in time.', ['failed']],
    ['005', [en.paid.title], 'paid', '', ['paid']],
    ['006', [en.wait.prompt, en.paid.title], 'paid', '', ['paid']],
    ['008', [en.paid.title], 'paid', '', ['paid']],
    ['009', [en.disputed.title], 'awaiting_payment', '', []],
  ] as const)
    journeys.journey(digits, ({ page }) =>
      onEveryNetwork(page, async (tab, way, prefix) => {
        const sale = await journeys.shopAsksFor()
        await tab.goto(sale.address)
        await step.payWithWallet(tab, way, `${prefix}0000${digits}`)
        for (const title of titles) await step.seesEnding(tab, title)
        expect(await sale.statusOf()).toMatchObject({ status, status_reason })
        expect(await sale.history()).toEqual(history)
        expect(await sale.charges()).toHaveLength(1)
        if (digits === '009') await isLookedInto(tab, sale)
      }),
    )
})

const networks = [
  ['MTN MoMo', '024'],
  ['Telecel Cash', '020'],
  ['AT Money', '026'],
] as const

// In parallel tabs, because most of the time is waiting.
async function onEveryNetwork(
  page: Page,
  pay: (tab: Page, way: step.Wallet, prefix: string) => Promise<void>,
) {
  const begun = networks.map(async ([way, prefix]) => pay(await page.context().newPage(), way, prefix))
  await Promise.all(begun)
}

async function isLookedInto(page: Page, sale: Sale) {
  await step.reads(page, `Do not pay again. Keep the reference: ${sale.tx_reference}`)
  expect(await page.getByRole('main').getByRole('link').count()).toBe(0)
  expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
  expect((await sale.tasks()).map(({ kind }) => kind)).toEqual(['amount_mismatch'])
}

async function paidOnce(page: Page, sale: Sale) {
  await step.seesPaid(page)
  expect(await sale.statusOf()).toMatchObject({ status: 'paid', status_reason: 'The money arrived late.' })
  expect(await sale.history()).toEqual(['failed', 'paid'])
  expect(await sale.isLate()).toBe(true)
  expect(await sale.charges()).toHaveLength(1)
}

describe('a wallet that ends in 007', () => {
  async function failsFirst(page: Page) {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000007')
    await sale.becomes('failed')
    await page.goto(sale.address) // the yes comes soon
    await step.seesFailed(page, 'refused')
    return sale
  }

  journeys.journey('turns out to be paid before anyone tries again', async ({ page }) => {
    const sale = await failsFirst(page)
    await sale.becomes('paid')
    await paidOnce(page, sale) // the page changes by itself
  })

  journeys.journey('is not paid twice by a form that was open', async ({ page }) => {
    const sale = await failsFirst(page)
    await step.staysOld(page)
    await step.follow(page, en.failed.again)
    await step.fillWallet(page, 'MTN MoMo', '0240000000')
    await sale.becomes('paid')
    await step.pressPay(page)
    await paidOnce(page, sale)
  })
})

describe('the test phone', () => {
  for (const [decision, status, status_reason] of [
    ['Approve', 'paid', ''],
    ['Decline', 'failed', 'The customer declined on the phone.'],
  ] as const)
    journeys.journey(decision, async ({ page }) => {
      const sale = await journeys.shopAsksFor()
      await page.goto(sale.address)
      await step.payWithWallet(page, 'AT Money', '0261234567')
      await step.sees(page, en.wait.prompt)
      await step.reads(page, 'is asking 026 ••• 4567 to pay')
      expect(await sale.statusOf()).toMatchObject({ status: 'awaiting_payment' })
      await step.decideOnTestPhone(page, decision)
      await step.seesEnding(page, decision === 'Approve' ? en.paid.title : 'declined')
      expect(await sale.statusOf()).toMatchObject({ status, status_reason })
    })

  journeys.journey('is found by the number', { scripts: false }, async ({ page }) => {
    const sale = await journeys.shopAsksFor({ total: '7.31' })
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0241237310')
    await step.sees(page, en.wait.prompt)
    await page.goto(`${journeys.gateway.url}/sandbox/phone`)
    await page.getByLabel('Wallet number').fill('024 123 7310')
    await step.press(page, 'Show requests')
    await page.getByRole('link', { name: 'Ama Shop GHS 7.31' }).first().click()
    await step.answerPrompt(page, 'Approve')
    await step.follow(page, 'Back to the checkout')
    await step.seesPaid(page)
  })
})

describe('a voucher code', () => {
  journeys.journey('that is not accepted', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'Telecel Cash', '0200000000', '000000')
    await step.seesFailed(page, 'wrong_voucher')
    const status_reason = 'The voucher code was not accepted.'
    expect(await sale.statusOf()).toMatchObject({ status: 'failed', status_reason })
  })
})
