import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { addRefusedRequests } from '../../src/store/requestLog.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { cutTexts, overflow, smallTargets } from '../support/browser/measure.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { after, minutes, no, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { type SupportSite, supportSite } from '../support/gateway/supportSite.ts'

let browser: TestBrowser
let shop: TestShop
let site: SupportSite

beforeAll(async () => {
  shop = await openShop()
  const merchant = await shop.addMerchant('Ama Shop with a rather long name of its own')
  shop.setNow(after(-minutes(5), new Date()))
  const payment = await shop.ask(merchant, { invoice_id: 'AMA-1', description: 'x'.repeat(100) })
  await shop.try(payment, no)
  shop.setNow(new Date())
  await shop.try(payment, {
    state: 'pending',
    provider_ref: '9f2c1b7e-55aa-4a35-9d1e-0c9a6f1b2d3e'.repeat(2),
  })
  await shop.ask(merchant, { invoice_id: 'SAME' })
  await shop.ask(merchant, { invoice_id: 'SAME' }, 'test')
  shop.setNow(after(-minutes(3), new Date()))
  await told(
    await shop.ask(merchant, { invoice_id: 'PAID', number: '0241234567', email: 'ama@mail.example' }),
  )
  shop.setNow(new Date())
  await addRefusedRequests(shop.db, [
    {
      merchant_id: merchant.merchant_id,
      mode: 'test',
      request_id: refusedId,
      refused_at: new Date(),
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 401,
      code: 'GW-010',
      field: 'secure_hash',
      message: 'secure_hash: does not match this request',
      hint: {
        hashed_string: `invoice_id=AMA-1&merchant_key=${merchant.test.merchant_key}&total=25.00`,
        likely_mistake: 'the names are not in alphabetical order: invoice_id, merchant_key, total',
      },
      fields: { merchant_key: merchant.test.merchant_key, invoice_id: 'AMA-1', number: '024 ••• 3456' },
    },
  ])
  site = await supportSite(shop.runtime)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  site?.stop()
  await shop.stop()
})

// A paid payment whose customer got a message, and whose shop could not be reached.
async function told(asked: Payment) {
  const { merchant_id, tx_reference, created_at } = await shop.try(asked, yes)
  await shop.db.rows(sql`
    update messages set state = 'sent', messenger = 'smpp', sent_at = ${created_at}, next_try_at = null
    where tx_reference = ${tx_reference}`)
  await shop.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries,
      last_try, last_try_at, last_ms, last_status, last_result, last_words, exhausted_at)
    values (${merchant_id}, ${tx_reference}, 1, 'live', 'https://ama.example/a/rather/long/address/of/its/own',
      'https://ama.example:443', 'post', ${created_at}, ${created_at}, 2, 2, ${created_at}, 31, 503, 'server_error', '',
      ${created_at})`)
  await shop.db.rows(sql`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, result)
    values (${merchant_id}, ${tx_reference}, 1, 1, ${created_at}, 10000, 'timeout')`)
}

const refusedId = 'req_7m2k9c4w8x1z5b3n'

const screens: [string, CustomerOptions][] = [
  ['the smallest phone', { width: 320 }],
  ['a phone at night', { dark: true }],
  ['a desk', { width: 1280, height: 800 }],
  ['a desk at night', { width: 1280, height: 800, dark: true }],
]
const pages: [string, string][] = [
  ['ask', '/support'],
  ['payment', '/support?q=AMA-1'],
  ['paid', '/support?q=PAID'],
  ['done', '/support?q=PAID&done=receipt'],
  ['choice', '/support?q=SAME'],
  ['request', `/support?q=${refusedId}`],
  ['no-request', '/support?q=req_0000000000000000'],
  ['nothing', `/support?q=${'N'.repeat(150)}`],
]

for (const [screen, options] of screens)
  for (const [name, path] of pages)
    test(`the ${name} page can be used on ${screen}`, async () => {
      const { page, faults, shoot, close } = await browser.newCustomer({ ...options, scripts: false })
      onTestFinished(close)
      await page.goto(site.url + path)
      await shoot(`support-${name}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
      // What is typed may be longer than its field.
      expect((await cutTexts(page)).filter(cut => !cut.startsWith('input'))).toEqual([])
      expect(await smallTargets(page)).toEqual([])
      expect(faults.filter(fault => !fault.includes('404'))).toEqual([])
    })

test('a reference finds the payment', async () => {
  const { page, close } = await browser.newCustomer({ scripts: false })
  onTestFinished(close)
  await page.goto(`${site.url}/support`)
  await page.getByLabel('Look up a payment or a request').fill('AMA-1')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByRole('heading', { name: 'What happens next' }).waitFor()
  expect(await page.title()).toMatch(/^TG-.*, awaiting_payment · Tollgate support$/)
})

for (const scripts of [true, false])
  test(`the receipt and the notification are sent again by a button, scripts ${scripts ? 'on' : 'off'}`, async () => {
    const { page, faults, close } = await browser.newCustomer({ scripts })
    onTestFinished(close)
    shop.setNow(new Date())
    await shop.db.rows(sql`update messages set state = 'sent', next_try_at = null`)
    await shop.db.rows(sql`update deliveries set next_try_at = null`)
    await page.goto(`${site.url}/support?q=PAID`)
    const before = await messageCount()
    await page.getByRole('button', { name: 'Send the receipt again by SMS to 024 ••• 4567' }).dblclick()
    await page.getByText(/The receipt is on its way again|It was not done twice/).waitFor()
    await page.getByText('SMS to 024 ••• 4567: One is still being sent').waitFor()
    expect(await messageCount()).toBe(before + 1)
    await page.reload()
    expect(await messageCount()).toBe(before + 1)
    await page.getByRole('button', { name: 'Send notification 1 again' }).click()
    await page.getByText('The notification is sent again now.').waitFor()
    const due = await shop.db.rows(sql`select from deliveries where next_try_at is not null`)
    expect(due).toHaveLength(1)
    await page.getByText('Sent the receipt again by SMS').last().waitFor()
    expect(faults).toEqual([])
  })

const messageCount = async () => (await shop.db.rows(sql`select from messages`)).length
