import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { cutTexts, overflow } from '../support/browser/measure.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { paidInvoice } from '../support/merchant/refunds.ts'
import { trigger } from '../support/merchant/testTools.ts'

let browser: TestBrowser
let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let base: string
let paid: string

const details = { number: '+233241234000', email: 'ama@mail.example' }

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  base = `/dashboard/m/${merchant.merchant_id}/test`
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  await trigger(gateway.url, merchant.test, { outcome: 'failed', invoice_id: 'AK-1', total: '140.00' })
  await trigger(gateway.url, merchant.test, {
    outcome: 'no_answer',
    invoice_id: 'AK-2-a-rather-long-one',
    total: '1128.00',
  })
  const { tx_reference } = await paidInvoice(gateway.url, merchant.test, {
    invoice_id: 'AK-3',
    total: '85.00',
    ...details,
  })
  await gateway.db.rows(sql`
    update payments set name = 'Ama <b>Boateng</b>', description = '2 × Jollof, delivery' where tx_reference = ${tx_reference}`)
  paid = `${base}/payments/${tx_reference}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

async function open(options: CustomerOptions) {
  const customer = await browser.newCustomer(options)
  onTestFinished(customer.close)
  const [name = '', value = ''] = owner.cookie.split('=')
  await customer.page.context().addCookies([{ name, value, url: gateway.url }])
  return customer
}

const screens: [string, CustomerOptions][] = [
  ['a phone', { width: 390, height: 844 }],
  ['a phone at night', { width: 390, height: 844, dark: true }],
  ['a desk', { width: 1280, height: 900 }],
  ['a desk at night, in French', { width: 1280, height: 900, dark: true, locale: 'fr-FR' }],
]

for (const [screen, options] of screens)
  test(`the list and a payment can be used on ${screen}, without scripts`, async () => {
    const { page, faults, shoot } = await open({ ...options, scripts: false })
    await gateway.db.rows(sql`update users set lang = ${options.locale === 'fr-FR' ? 'fr' : 'en'}`)
    for (const [name, path] of [
      ['list', `${base}/payments`],
      ['filtered', `${base}/payments?status=paid&from=2020-01-01&q=AK`],
      ['payment', paid],
      ['messages', `${paid}/messages`],
      ['open', `${base}/payments?q=AK-2`],
    ] as const) {
      await page.goto(gateway.url + path)
      if (name === 'open') await page.locator('.invoice a').click()
      await shoot(`dashboard-payments-${name}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      expect((await cutTexts(page)).filter(cut => !cut.startsWith('input'))).toEqual([])
    }
    expect(faults).toEqual([])
  })

for (const scripts of [true, false])
  test(`the owner finds a payment and refunds a part of it, scripts ${scripts ? 'on' : 'off'}`, async () => {
    await gateway.db.rows(sql`update users set lang = 'en'`)
    const { page, faults } = await open({ width: 390, height: 844, scripts })
    await page.goto(`${gateway.url}${base}/payments`)
    await page.getByPlaceholder('Invoice, phone, email, amount').fill('024 123 4000')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'AK-3' }).click()
    await page.getByRole('link', { name: 'Refund', exact: true }).click()
    await page.getByLabel('A part').check()
    await page.getByLabel('Amount in GHS').fill(scripts ? '10.00' : '11.00')
    await page.getByRole('button', { name: 'Refund the payment' }).dblclick()
    await page.getByText(/The refund was requested|It was not done twice/).waitFor()
    const refunds = await gateway.db.rows<{ amount: bigint }>(
      sql`select amount from refunds order by created_at`,
    )
    expect(refunds.map(({ amount }) => amount)).toEqual(scripts ? [1000n] : [1000n, 1100n])
    expect(faults).toEqual([])
  })
