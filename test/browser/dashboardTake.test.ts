import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { addOutlet } from '../../src/store/merchants/merchants.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type Customer, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { cutTexts, overflow, smallTargets } from '../support/browser/measure.ts'
import { signedIn } from '../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { postForm } from '../support/checkout/stages.ts'

let browser: TestBrowser
let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  const { merchant_id } = merchant
  await addOutlet(gateway.db, { merchant_id, code: 'OSU', name: 'Osu', created_at: new Date() })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

async function usable({ page, faults }: Pick<Customer, 'page' | 'faults'>) {
  // Without scripts the waiting page reloads itself.
  expect((await axeFaults(page)).filter(fault => !fault.startsWith('meta-refresh'))).toEqual([])
  expect(await overflow(page)).toBe(false)
  expect((await cutTexts(page)).filter(cut => !cut.includes('/checkout/'))).toEqual([]) // the link is copied or shared
  expect(await smallTargets(page)).toEqual([])
  expect(faults).toEqual([])
}

const screens = [
  ['a phone, scripts on', { scripts: true, width: 390, height: 844 }, 'en'],
  ['a phone at night, scripts off', { scripts: false, width: 390, height: 844, dark: true }, 'fr'],
  ['a desk, scripts on, by the keyboard', { scripts: true, width: 1280, height: 900 }, 'en'],
] as const

const words = {
  en: {
    amount: 'Amount',
    phone: 'Customer’s phone',
    for: 'For',
    paid: 'Paid',
    again: 'New payment',
    wait: 'Waiting for',
  },
  fr: {
    amount: 'Montant',
    phone: 'Téléphone du client',
    for: 'Pour',
    paid: 'Payé',
    again: 'Nouveau paiement',
    wait: 'En attente de',
  },
} as const

for (const [screen, options, lang] of screens)
  test(`a cashier takes a payment on ${screen}`, async () => {
    const { merchant_id } = merchant
    const cashier = await signedIn(gateway, {
      name: 'Kofi Mensah',
      member: { merchant_id, role: 'cashier', outlets: ['OSU'] },
      lang,
    })
    const customer = await browser.newCustomer(options)
    onTestFinished(customer.close)
    const { page, shoot } = customer
    const [name = '', value = ''] = cashier.cookie.split('=')
    await page.context().addCookies([{ name, value, url: gateway.url }])
    const t = words[lang]

    await page.goto(`${gateway.url}/dashboard`) // leads to the live part
    expect(page.url()).toContain('/live/take')
    await page.locator('.switch a.test').click()
    await page.waitForURL('**/test/take')
    await page.locator('[name=total]:focus').waitFor() // a browser gives it the focus after the first paint
    await page.keyboard.type('35.00')
    await page.getByLabel(t.phone, { exact: true }).fill('024 412 3456')
    await page.getByLabel(t.for, { exact: true }).fill('2 × Jollof')
    if (options.scripts) await page.getByRole('button', { name: 'Ask for GHS 35.00' }).waitFor()
    await shoot('dashboard-take')
    await usable(customer)
    await page.getByLabel(t.for, { exact: true }).press('Enter')

    await page.getByRole('heading', { name: `${t.wait} 024 ••• 3456` }).waitFor()
    await shoot('dashboard-take-waiting')
    await usable(customer)
    const reference = /TG-[0-9A-Z-]+/.exec(page.url())?.[0] ?? ''
    const [attempt] = await gateway.db.rows<{ attempt_id: string }>(sql`
      select attempt_id from attempts where merchant_id = ${merchant_id} and tx_reference = ${reference}`)
    await postForm(`${gateway.url}/sandbox/phone/${attempt?.attempt_id}`, { decision: 'approve' })

    await page.getByText(t.paid, { exact: true }).first().waitFor() // without a click
    await page.getByRole('heading', { name: /GHS|35/ }).waitFor()
    await shoot('dashboard-take-paid')
    await usable(customer)
    const [payment] = await gateway.db.rows(sql`
      select status, total, outlet, p.mode, t.user_id from payments p join taken_payments t using (merchant_id, tx_reference)
      where merchant_id = ${merchant_id} and tx_reference = ${reference}`)
    const outlet = { status: 'paid', total: 3500n, outlet: 'OSU', mode: 'test' }
    expect(payment).toEqual({ ...outlet, user_id: cashier.user_id })

    await page.getByRole('link', { name: t.again }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel(t.amount, { exact: true }).waitFor()
    await page.locator('.recent li').first().getByText(t.paid, { exact: true }).waitFor() // colleagues took the others
    await shoot('dashboard-take-today')
  })
