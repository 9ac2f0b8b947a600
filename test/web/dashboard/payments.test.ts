import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { sql } from '../../../src/store/db.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { paidInvoice } from '../../support/merchant/refunds.ts'
import { after, aPayment, hours } from '../../support/payments/rows.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let base: string

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  base = `/dashboard/m/${merchant.merchant_id}/live`
  owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  await gateway.db.rows(sql`
    insert into outlets (merchant_id, code, name, created_at)
    values (${merchant.merchant_id}, 'OSU', 'Osu', now()), (${merchant.merchant_id}, 'TEM', 'Tema', now())`)
  await addPayments()
})
afterAll(() => gateway.stop())

const start = new Date('2026-03-02T12:00:00Z')

// Named by their invoice ids. Each is a minute later than the one before.
async function addPayments() {
  const some: Partial<Payment>[] = [
    { invoice_id: 'AK-1', status: 'paid', payment_method: 'mtn_mobile_money', outlet: 'OSU', total: 2500n },
    { invoice_id: 'AK-2', status: 'failed', outlet: 'TEM', number: '+233241234567', total: 112_800n },
    { invoice_id: 'AK-3', status: 'paid', payment_method: 'card', email: 'Kofi@mail.example', total: 8500n },
    { invoice_id: 'BK-4', name: 'Ama Boateng', status: 'cancelled', total: 8500n },
    { invoice_id: '85', status: 'paid', payment_method: 'ghqr', name: 'AMA Mensah', total: 4200n },
  ]
  const { merchant_id } = merchant
  for (const [at, one] of some.entries()) {
    const created_at = after(at * 60_000, start)
    const payment = aPayment({
      merchant_id,
      mode: 'live',
      tx_reference: newReference(created_at),
      tx_token: newToken(merchant_id, created_at),
      created_at,
      updated_at: created_at,
      expires_at: after(hours(1), created_at),
      ...one,
    })
    await storePayments(gateway.db, [payment])
    await gateway.db.rows(sql`
      update payments set payment_method = ${payment.payment_method}
      where merchant_id = ${merchant_id} and tx_reference = ${payment.tx_reference}`)
  }
}

const notesIn = async (client: DashboardClient, path: string) =>
  [...(await client.html(base.replace('/live', `/test${path}`))).matchAll(/<span class="why">([^<]*)</g)].map(
    ([, note = '']) => note.replace(/\d+ min \d+ s/, 'N'),
  )

test('a list says beside the status what there is to say, in both languages', async () => {
  const { merchant_id } = merchant
  const french = await signedIn(gateway, { member: { merchant_id, role: 'owner' }, lang: 'fr' })
  const now = new Date()
  const add = async (one: Partial<Payment>) => {
    const tx_reference = newReference(now)
    const tx_token = newToken(merchant_id, now)
    const times = { created_at: now, updated_at: now, expires_at: after(600_000, now) }
    await storePayments(gateway.db, [
      aPayment({ merchant_id, mode: 'test', tx_reference, tx_token, ...times, ...one }),
    ])
    return tx_reference
  }
  await add({ invoice_id: 'N-1', status: 'failed', status_reason: 'Not enough money in the account.' })
  await add({ invoice_id: 'N-2', status: 'awaiting_payment' })
  await add({ invoice_id: 'N-3', status: 'awaiting_payment', expires_at: after(-1000, now) })
  const paid = await add({ invoice_id: 'N-4', status: 'paid' })
  await gateway.db.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at, tries,
      last_try, last_try_at, last_ms, last_result)
    values (${merchant_id}, ${paid}, 1, 'test', 'https://shop.example/ipn', 'l', 'post', now(), now(), 1, 1, now(), 3,
      'refused')`)
  for (const path of ['', '/payments']) {
    expect(await notesIn(owner, path)).toEqual([
      'not acknowledged',
      'expired',
      'N left',
      'Not enough money in the wallet',
    ])
    expect(await notesIn(french, path)).toEqual([
      'non confirmé par la boutique',
      'expiré',
      'encore N',
      'Solde insuffisant',
    ])
  }
})

const invoicesIn = (html: string) =>
  [...html.matchAll(/<td class="invoice"><a href="[^"]*">([^<]*)<\/a>/g)].map(([, invoice]) => invoice)
const find = async (client: DashboardClient, at: string, q = '') =>
  invoicesIn(await client.html(`${at}/payments?q=${encodeURIComponent(q)}`))
// Of the pager.
const link = (html: string, rel: string) =>
  new RegExp(`href="([^"]+)" rel="${rel}"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
const listed = async (query: string) =>
  invoicesIn(await owner.html(`${base}/payments${query && `?${query}`}`))
const text = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

for (const [query, invoices] of [
  ['', ['85', 'BK-4', 'AK-3', 'AK-2', 'AK-1']],
  ['status=paid', ['85', 'AK-3', 'AK-1']],
  ['status=failed&status=cancelled', ['BK-4', 'AK-2']],
  ['status=refunded', ['85', 'BK-4', 'AK-3', 'AK-2', 'AK-1']], // no such status: as if it were not there
  ['method=card', ['AK-3']],
  ['method=card&method=ghqr&status=paid', ['85', 'AK-3']],
  ['outlet=OSU', ['AK-1']],
  ['outlet=OSU&outlet=TEM', ['AK-2', 'AK-1']],
  ['outlet=OSU&status=failed', []],
  ['from=2026-03-02&to=2026-03-02', ['85', 'BK-4', 'AK-3', 'AK-2', 'AK-1']],
  ['from=2026-03-03', []],
  ['to=2026-03-01', []],
  ['q=AK-3', ['AK-3']],
  ['q=AK-', ['AK-3', 'AK-2', 'AK-1']],
  ['q=AK-&status=paid', ['AK-3', 'AK-1']],
  ['q=AK-9', []],
  ['q=024 123 4567', ['AK-2']],
  ['q=%2B233241234567', ['AK-2']],
  ['q=kofi@MAIL.example', ['AK-3']],
  ['q=ama', ['85', 'BK-4']],
  ['q=Ama B', ['BK-4']],
  ['q=ama&status=paid', ['85']],
  ['q=85', ['85', 'BK-4', 'AK-3']], // an invoice id, and an amount
  ['q=85.00', ['BK-4', 'AK-3']],
  ['q=GHS 1,128.00', ['AK-2']],
  ['q=85.00&status=paid', ['AK-3']],
  ['q=%25', []],
  ["q=' or true --", []],
] as const)
  test(`the list of ${query || 'everything'}`, async () => expect(await listed(query)).toEqual(invoices))

test('a reference finds its payment, whole, in any spelling, and by its beginning', async () => {
  const html = await owner.html(`${base}/payments?q=AK-2`)
  const [, reference = ''] = /payments\/(TG-[0-9A-Z-]+)"/.exec(html) ?? []
  expect(await listed(`q=${reference}`)).toEqual(['AK-2'])
  expect(await listed(`q=${reference.toLowerCase().replaceAll('-', ' ')}`)).toEqual(['AK-2'])
  expect(await listed(`q=${reference.slice(0, 16)}`)).toEqual(['AK-2'])
})

test("the provider's reference and the wallet of an attempt find a payment of the same merchant only", async () => {
  const { tx_reference } = await paidInvoice(gateway.url, merchant.test, { invoice_id: 'WALLET-1' })
  const testBase = base.replace('/live', '/test')
  const [attempt] = await gateway.db.rows<{ provider_ref: string; instrument: string }>(
    sql`select provider_ref, instrument from attempts where tx_reference = ${tx_reference}`,
  )
  expect(await find(owner, testBase, attempt?.provider_ref)).toEqual(['WALLET-1'])
  expect(await find(owner, testBase, attempt?.instrument)).toEqual(['WALLET-1'])
  expect(await find(owner, base, attempt?.provider_ref)).toEqual([]) // the other mode
  const other = await gateway.addMerchant()
  const stranger = await signedIn(gateway, { member: { merchant_id: other.merchant_id, role: 'owner' } })
  const strange = `/dashboard/m/${other.merchant_id}/test`
  expect(await find(stranger, strange, attempt?.provider_ref)).toEqual([])
  expect(await find(stranger, strange, attempt?.instrument)).toEqual([])
  expect((await stranger.get(`${strange}/payments/${tx_reference}`)).status).toBe(404)
  expect((await stranger.get(`${testBase}/payments/${tx_reference}`)).status).toBe(404)
  expect((await owner.get(`${base}/payments/${tx_reference}`)).status).toBe(404)
})

test('pages lead to older payments and back, each payment on one page', async () => {
  const many = await gateway.addMerchant()
  const reader = await signedIn(gateway, { member: { merchant_id: many.merchant_id, role: 'developer' } })
  const payments = Array.from({ length: 60 }, (_, at) => {
    const created_at = after(at * 1000, start)
    const ids = { tx_reference: newReference(created_at), tx_token: newToken(many.merchant_id, created_at) }
    return aPayment({
      ...ids,
      merchant_id: many.merchant_id,
      mode: 'live',
      invoice_id: `N-${at}`,
      created_at,
    })
  })
  await storePayments(gateway.db, payments)
  const first = await reader.html(`/dashboard/m/${many.merchant_id}/live/payments`)
  const second = await reader.html(link(first, 'next'))
  const third = await reader.html(link(second, 'next'))
  const pages = [first, second, third].map(invoicesIn)
  expect(pages.map(page => page.length)).toEqual([25, 25, 10])
  expect(pages.flat()).toEqual(payments.map(({ invoice_id }) => invoice_id).toReversed())
  expect(link(third, 'next')).toBe('')
  expect(link(first, 'prev')).toBe('')
  expect(invoicesIn(await reader.html(link(third, 'prev')))).toEqual(pages[1])
  expect(invoicesIn(await reader.html(link(second, 'prev')))).toEqual(pages[0])
})

test('an empty list says what can be done', async () => {
  const empty = await gateway.addMerchant()
  const reader = await signedIn(gateway, { member: { merchant_id: empty.merchant_id, role: 'owner' } })
  const page = await reader.html(`/dashboard/m/${empty.merchant_id}/live/payments`)
  expect(text(page)).toContain('There are no payments yet')
  expect(text(await owner.html(`${base}/payments?q=nothing-like-this`))).toContain('No payment matches')
})

test('numbers are masked, and outlets have their names', async () => {
  const html = await owner.html(`${base}/payments`)
  expect(html).toContain('024 ••• 4567')
  expect(html).toContain('k••@••'.replace('k', 'K'))
  expect(html).not.toMatch(/241234567|Kofi@mail/)
  expect(html).toContain('>Osu</td>')
})
