import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newRefundReference } from '../../src/runtime/ids.ts'
import { sql } from '../../src/store/db.ts'
import { addApproval } from '../../src/store/refunds/approvals.ts'
import { axeFaults } from '../support/browser/axe.ts'
import { type CustomerOptions, openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { overflow } from '../support/browser/measure.ts'
import { type DashboardClient, signedIn } from '../support/dashboard/signedIn.ts'
import { seedPayment } from '../support/dashboard/seedPayments.ts'
import { testGateway, type TestGateway } from '../support/gateway/gateway.ts'

let browser: TestBrowser
let gateway: TestGateway
let owner: DashboardClient
let base: string
let refund_reference: string
const hourMs = 3_600_000

beforeAll(async () => {
  gateway = await testGateway()
  const { merchant_id } = await gateway.addMerchant()
  owner = await signedIn(gateway, { member: { merchant_id, role: 'owner' } })
  const asker = await signedIn(gateway, { member: { merchant_id, role: 'accountant' }, name: 'Kofi Mensah' })
  base = `/dashboard/m/${merchant_id}/live`
  const now = Date.now()
  const start = Math.floor(now / (24 * hourMs)) * 24 * hourMs
  const methods = ['mtn_mobile_money', 'telecel_cash', 'airteltigo_money', 'card', 'ghqr']
  const reasons = [
    'Not enough money in the account.',
    'The customer did not approve in time.',
    'The customer cancelled.',
  ]
  for (const day of [0, 1, 7])
    for (let at = 0; at < 40; at++) {
      const time = new Date(start - day * 24 * hourMs + Math.floor(((now - start - 1000) * at) / 40))
      const status = at % 8 === 3 ? 'failed' : at % 13 === 5 ? 'cancelled' : 'paid'
      await seedPayment(gateway.db, {
        merchant_id,
        at: time,
        status,
        reason: status === 'paid' ? '' : reasons[at % 3],
        total: BigInt(1000 + at * 531 * (day ? 1 : 2)),
        method: methods[at % 5],
        outlet: at % 3 ? 'osu' : null,
        paidAfterMs: Math.min(20_000 + at * 700, now - time.getTime()),
        fee: BigInt(20 + at),
      })
    }
  await gateway.db.rows(sql`insert into outlets (merchant_id, code, name, created_at)
    values (${merchant_id}, 'osu', 'Osu', now())`)
  const waits = await seedPayment(gateway.db, { merchant_id, at: new Date(now - 60_000), invoice_id: 'AK-1' })
  refund_reference = newRefundReference(merchant_id)
  await addApproval(gateway.db, {
    merchant_id,
    refund_reference,
    mode: 'live',
    tx_reference: waits.tx_reference,
    invoice_id: 'AK-1',
    attempt_number: 1,
    source: 'payment',
    amount: 2500n,
    currency: 'GHS',
    reason: 'The pot was broken.',
    requested_by: 'operator',
    requester_id: asker.user_id,
    state: 'waiting',
    decider_id: null,
    decision_reason: '',
    created_at: new Date(now),
    expires_at: new Date(now + 24 * hourMs),
    decided_at: null,
  })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gateway.stop()
})

async function open(path: string, options: CustomerOptions) {
  const { page, shoot, close } = await browser.newCustomer(options)
  onTestFinished(close)
  const [name = '', value = ''] = owner.cookie.split('=')
  await page.context().addCookies([{ name, value, url: gateway.url }])
  await page.goto(`${gateway.url}${path}`)
  return { page, shoot }
}

const screens = [
  { width: 390, dark: true },
  { width: 1280, height: 900 },
]
for (const options of screens)
  for (const path of [
    '',
    '?period=month',
    '/money',
    '/money/statement',
    '/money/closing',
    '/money/refunds',
    '/money/disputes',
  ])
    test(`${path || 'overview'} at ${options.width} pixels: axe finds nothing, and nothing overflows`, async () => {
      const { page, shoot } = await open(`${base}${path}`, options)
      await shoot(`dashboard-${path.replace(/\W+/g, '-') || 'overview'}`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflow(page)).toBe(false)
    })

test('without scripts: a chart opens as a table, and a second person approves a refund', async () => {
  const { page } = await open(base, { width: 1280, height: 900, scripts: false })
  const tables = page.getByText('Show as table')
  expect(await tables.count()).toBe(4)
  await tables.first().click()
  expect(await page.getByRole('columnheader', { name: 'Hour' }).isVisible()).toBe(true)
  await page.getByRole('link', { name: 'Decide' }).click()
  await page.getByRole('button', { name: 'Approve GHS 25.00' }).click()
  expect(await page.getByRole('status').textContent()).toContain('Approved.')
  const [refund] = await gateway.db.rows<{ amount: bigint }>(
    sql`select amount from refunds where refund_reference = ${refund_reference}`,
  )
  expect(refund?.amount).toBe(2500n)
})
