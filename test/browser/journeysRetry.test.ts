import { describe, expect, test } from 'vitest'
import * as step from '../support/journeys/steps.ts'
import { openJourneys } from '../support/journeys/journey.ts'
import { send } from '../support/merchant/merchant.ts'

const { en } = step

const journeys = openJourneys()

describe('after a failure', () => {
  journeys.journey('the same way is there again with its number, and pays', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'Telecel Cash', '020 000 0002')
    await step.seesFailed(page, 'insufficient_funds')
    await step.follow(page, en.failed.again)
    await page.getByText('Pay from').filter({ visible: true }).waitFor()
    expect(await page.getByRole('radio', { name: 'Telecel Cash' }).isChecked()).toBe(true)
    expect(await step.numberOnFile(page)).toBe('Pay from 020 ••• 0002')
    const voucher = page.getByRole('textbox', { name: en.fields.voucher_code.label })
    expect(await voucher.inputValue()).toBe('') // a code is good for once
    await step.payWithWallet(page, 'Telecel Cash', '0200000000')
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['failed', 'awaiting_payment', 'paid'])
    expect(await sale.statusOf()).toMatchObject({ status: 'paid', payment_instrument: '020 ••• 0000' })
  })

  journeys.journey('another way pays', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000003')
    await step.seesFailed(page, 'declined')
    await step.follow(page, en.failed.other)
    await page.getByRole('radio', { name: 'Card' }).waitFor()
    for (const radio of await page.getByRole('radio').all()) expect(await radio.isChecked()).toBe(false)
    await step.payWithCard(page, { number: '4111111111111111' })
    await step.seesPaid(page)
    expect(await sale.history()).toEqual(['failed', 'awaiting_payment', 'paid'])
    expect(await sale.statusOf()).toMatchObject({ payment_method: 'card', status_reason: '' })
    expect((await sale.attempts()).map(({ state }) => state)).toEqual(['failed', 'paid'])
  })

  journeys.journey('a second one asks for patience, and the form stays as it was typed', async ({ page }) => {
    const sale = await journeys.shopAsksFor()
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000003')
    await step.seesFailed(page, 'declined')
    await step.follow(page, en.failed.again)
    await step.payWithWallet(page, 'MTN MoMo', '0240000002')
    await step.seesFailed(page, 'insufficient_funds')
    await sale.endedAgo(-60_000) // a slow machine must not be patient enough by itself
    await step.follow(page, en.failed.again)
    await step.payWithWallet(page, 'MTN MoMo', '0240000000')
    await page
      .getByRole('alert')
      .getByText(/^Wait \d\d seconds, then try again\.$/)
      .waitFor()
    expect(await step.phoneField(page).inputValue()).toBe('0240000000')
    expect(await sale.attempts()).toHaveLength(2)
    await sale.endedAgo(60_000)
    await step.pressPay(page)
    await step.seesPaid(page)
  })

  journeys.journey('a shop may want no second try', async ({ page }) => {
    const merchant = await journeys.gateway.addMerchant('retry_after_failure=off')
    const sale = await journeys.shopAsksFor({}, merchant)
    await page.goto(sale.address)
    await step.payWithWallet(page, 'MTN MoMo', '0240000003')
    await step.sees(page, en.reasons.declined.title)
    await step.reads(page, 'You cannot try again here. Go back to Ama Shop and start again.')
    expect(await page.getByRole('link', { name: en.failed.again }).count()).toBe(0)
    await page.goto(`${sale.address}?again=same`)
    await step.sees(page, en.reasons.declined.title)
  })
})

for (const scripts of [true, false])
  test.concurrent(`a customer who closes the waiting page later finds it paid, scripts ${scripts ? 'on' : 'off'}`, async () => {
    const sale = await journeys.shopAsksFor()
    await journeys.walk({ scripts }, async ({ page }) => {
      await page.goto(sale.address)
      await step.payWithWallet(page, 'MTN MoMo', '0241234567')
      await step.sees(page, en.wait.prompt)
    })
    const [attempt] = await sale.attempts()
    const body = new URLSearchParams({ decision: 'approve' })
    await send(`${journeys.gateway.url}/sandbox/phone/${attempt?.attempt_id}`, { method: 'POST', body })
    await sale.becomes('paid')
    await journeys.walk({ scripts }, async ({ page }) => {
      await page.goto(sale.address)
      await step.seesPaid(page)
    })
  })

test.concurrent('a lost connection is announced, and the current state is shown after the reconnect', async () => {
  const sale = await journeys.shopAsksFor()
  const customer = await journeys.newCustomer()
  const { page } = customer
  await page.goto(sale.address)
  await step.payWithWallet(page, 'MTN MoMo', '0241234567')
  await step.sees(page, en.wait.prompt)
  await page.context().setOffline(true)
  await page.getByRole('status').getByText(en.frame.lost).waitFor(step.eventually)
  await journeys.walk({}, async elsewhere => {
    await elsewhere.page.goto(sale.address)
    await step.decideOnTestPhone(elsewhere.page, 'Approve')
    await step.seesPaid(elsewhere.page)
  })
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(en.wait.prompt) // it is still there
  await page.context().setOffline(false)
  await step.seesPaid(page)
  const asked = `${journeys.gateway.url}/checkout/${sale.address.split('/').at(-1)}/state`
  const lost = `failed: net::ERR_INTERNET_DISCONNECTED ${asked}` // where it asked at all before it was told
  expect(customer.faults.filter(fault => fault !== lost)).toEqual([])
  await customer.close()
})
