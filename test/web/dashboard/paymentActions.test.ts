import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MerchantRole } from '../../../src/core/access/permissions.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { sql } from '../../../src/store/db.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { paidInvoice } from '../../support/merchant/refunds.ts'
import { after, aPayment, hours } from '../../support/payments/rows.ts'

let gateway: TestGateway
let merchant: TestMerchant
let owner: DashboardClient
let base: string

beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant('refund_confirm_above=40.00', 'refund_approval_above=60.00')
  base = `/dashboard/m/${merchant.merchant_id}/test`
  owner = await userAs('owner')
})
afterAll(() => gateway.stop())

const userAs = (role: MerchantRole) =>
  signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role } })

const customer = { number: '+233241234000', email: 'kofi@mail.example' }

let invoices = 0
async function paid(fields: Record<string, string> = {}) {
  const { tx_reference } = await paidInvoice(gateway.url, merchant.test, {
    invoice_id: `A-${++invoices}`,
    ...customer,
    ...fields,
  })
  return { tx_reference, page: `${base}/payments/${tx_reference}` }
}

async function awaiting() {
  const now = new Date()
  const { merchant_id } = merchant
  const payment = aPayment({
    merchant_id,
    mode: 'test',
    tx_reference: newReference(now),
    tx_token: newToken(merchant_id, now),
    invoice_id: `A-${++invoices}`,
    created_at: now,
    updated_at: now,
    expires_at: after(hours(1), now),
    ...customer,
    name: 'Kofi',
  })
  await storePayments(gateway.db, [payment])
  return { ...payment, page: `${base}/payments/${payment.tx_reference}` }
}

const actionsOn = async (subject: string) =>
  (
    await gateway.db.rows<{ action: string }>(
      sql`select action from audit_entries where subject = ${subject} order by entry_id`,
    )
  ).map(({ action }) => action)

const countOf = async (rows: ReturnType<typeof sql>) => (await gateway.db.rows(rows)).length
const text = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
const hidden = (html: string, action: string) => {
  const [, form = ''] =
    new RegExp(`<form method="post" action="[^"]*/${action}"[^>]*>(.*?)</form>`, 's').exec(html) ?? []
  return Object.fromEntries(
    [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>
}
// Submits the form of a page, with the fields that it has now.
async function press(page: string, action: string, fields: Record<string, string> = {}, client = owner) {
  const seen = hidden(await client.html(action === 'refund' ? `${page}/refund` : page), action)
  const submit = async () => client.submit(page, `${page}/${action}`, { ...seen, ...fields })
  return { submit, seen }
}
const to = (answer: Response) => answer.headers.get('location')

test('the words of the messages, for those who may send the receipt', async () => {
  const { page, tx_reference } = await paid()
  expect(await owner.html(page)).toContain(`<a class="small" href="${page}/messages">Read both</a>`)
  const html = await owner.html(`${page}/messages`)
  const words = [...html.matchAll(/<blockquote[^>]*>(.*?)<\/blockquote>/gs)].map(([, said = '']) => said)
  expect(words).toHaveLength(2)
  for (const said of words) {
    expect(said).toMatch(/GHS.\d/)
    expect(said).toContain('/checkout/')
  }
  expect(text(html)).toContain('024 ••• 4000')
  expect(html).not.toContain(customer.number)
  const cashier = await userAs('cashier')
  expect((await cashier.get(`${page}/messages`)).status).toBe(403)
  const other = tx_reference.replace(/.$/, last => (last === '0' ? '1' : '0'))
  expect((await owner.get(`${base}/payments/${other}/messages`)).status).toBe(404)
})

test('the page of a payment has the verdict first, and every part of its history', async () => {
  const { page } = await paid()
  const html = await owner.html(page)
  for (const part of ['Paid.', 'What happened', 'Attempts', 'Notifications', 'Ledger', 'Refunds', 'Messages'])
    expect(text(html)).toContain(part)
  expect(html.indexOf('Paid.')).toBeLessThan(html.indexOf('What happened'))
  expect(html).toContain('024 ••• 4000')
  expect(html).not.toMatch(/241234000|kofi@mail/)
})

for (const q of ['024 123 4000', 'KOFI@mail.example'])
  test(`the newest payments, of one period of the index, are found by ${q}`, async () => {
    const { tx_reference } = await paid()
    expect(await owner.html(`${base}/payments?q=${encodeURIComponent(q)}`)).toContain(tx_reference)
  })

test('the full number is shown after the look was recorded, and only to a role that may', async () => {
  const { page, tx_reference } = await paid()
  const { submit } = await press(page, 'reveal')
  const html = await (await submit()).text()
  expect(html).toContain('+233241234000')
  expect(html).toContain('kofi@mail.example')
  expect(await actionsOn(tx_reference)).toEqual(['payment.reveal'])
  expect(await owner.html(page)).not.toContain('+233241234000')
  const developer = await userAs('developer')
  expect((await developer.submit('/dashboard/account', `${page}/reveal`)).status).toBe(403)
  expect(await actionsOn(tx_reference)).toEqual(['payment.reveal'])
})

test('a receipt is sent again once, however often the form is submitted', async () => {
  const { page, tx_reference } = await paid()
  const queued = sql`select from messages where tx_reference = ${tx_reference} and state = 'queued'`
  await expect.poll(() => countOf(queued)).toBe(0) // the sender would write its result over the next statement
  await gateway.db.rows(
    sql`update messages set state = 'sent', next_try_at = null where tx_reference = ${tx_reference}`,
  )
  const { submit, seen } = await press(page, 'receipt')
  expect(seen.medium).toBe('sms')
  const answers = await Promise.all([submit(), submit()])
  expect(answers.map(answer => to(answer) ?? '').toSorted()).toEqual([
    `${page}?done=already`,
    `${page}?done=receipt`,
  ])
  expect(
    await countOf(
      sql`select from messages where tx_reference = ${tx_reference} and topic = 'paid' and medium = 'sms'`,
    ),
  ).toBe(2)
  expect(await actionsOn(tx_reference)).toEqual(['receipt.send'])
  expect(text(await owner.html(`${page}?done=receipt`))).toContain('The receipt is on its way again.')
})

test('a notification without an address is refused in words', async () => {
  const { page, tx_reference } = await paid()
  const { submit } = await press(page, 'redeliver')
  const answer = await submit()
  expect(answer.status).toBe(409)
  expect(text(await answer.text())).toContain('Set ipn_url')
  expect(await actionsOn(`${tx_reference}-N1`)).toEqual([])
})

test('a notification is sent again once', async () => {
  const { page, tx_reference } = await paid({ ipn_url: 'https://shop.example/ipn' })
  await gateway.db.rows(sql`
    update deliveries set next_try_at = null, lease_until = null, exhausted_at = now() where tx_reference = ${tx_reference}`)
  const { submit } = await press(page, 'redeliver')
  const answers = [await submit(), await submit()]
  expect(answers.map(to)).toEqual([`${page}?done=redelivered`, `${page}?done=already`])
  expect(await actionsOn(`${tx_reference}-N1`)).toEqual(['notification.redeliver'])
})

test('a payment is cancelled once; what has changed meanwhile is not', async () => {
  const { page, tx_reference } = await awaiting()
  const { submit } = await press(page, 'cancel')
  const answers = await Promise.all([submit(), submit()])
  expect(answers.map(answer => to(answer) ?? '').toSorted()).toEqual([
    `${page}?done=already`,
    `${page}?done=cancelled`,
  ])
  expect(await actionsOn(tx_reference)).toEqual(['payment.cancel'])
  expect(
    await countOf(sql`select from events where tx_reference = ${tx_reference} and cause = 'merchant'`),
  ).toBe(1)
  expect(text(await owner.html(page))).toContain('The shop cancelled.')
  const second = await awaiting()
  const stale = await press(second.page, 'cancel')
  await gateway.db.rows(sql`update payments set status = 'paid' where tx_reference = ${second.tx_reference}`)
  const answer = await stale.submit()
  expect(answer.status).toBe(409)
  expect(text(await answer.text())).toContain('Nothing was changed')
  expect(await actionsOn(second.tx_reference)).toEqual([])
})

const refundsOf = (tx_reference: string) =>
  gateway.db.rows<{ amount: bigint; requested_by: string; refund_reference: string }>(
    sql`select amount, requested_by, refund_reference from refunds where tx_reference = ${tx_reference} order by created_at`,
  )

test('a refund is made once by a form that is submitted twice, or in two tabs', async () => {
  const { page, tx_reference } = await paid()
  const tabs = await Promise.all([press(page, 'refund'), press(page, 'refund')])
  const fields = { part: 'part', amount: '10.00', reason: '=cmd()' }
  const answers = await Promise.all(
    [...tabs, ...tabs].map(({ seen }) => owner.submit(page, `${page}/refund`, { ...seen, ...fields })),
  )
  expect(answers.map(answer => to(answer) ?? '').toSorted()).toEqual([
    ...Array<string>(3).fill(`${page}?done=already`),
    `${page}?done=refunded`,
  ])
  const refunds = await refundsOf(tx_reference)
  expect(refunds.map(({ amount, requested_by }) => [amount, requested_by])).toEqual([[1000n, 'merchant']])
  expect(await actionsOn(refunds[0]?.refund_reference ?? '')).toEqual(['refund.create'])
  expect(text(await owner.html(page))).toContain('Up to GHS 15.00 can be refunded.')
  const rest = await press(page, 'refund')
  expect(to(await owner.submit(page, `${page}/refund`, { ...rest.seen, part: 'whole' }))).toBe(
    `${page}?done=refunded`,
  )
  expect((await refundsOf(tx_reference)).map(({ amount }) => amount)).toEqual([1000n, 1500n])
  expect(text(await owner.html(page))).toContain('Nothing is left to refund.')
})

for (const [fields, http, words] of [
  [
    { part: 'part', amount: '26.00' },
    409,
    'That is more than is left, which is GHS 25.00. No money has moved.',
  ],
  [{ part: 'part', amount: 'ten' }, 422, 'Enter an amount such as 25.00.'],
  [{ part: 'part', amount: '' }, 422, 'Enter an amount such as 25.00.'],
  [{ part: 'part', amount: '-1' }, 422, 'Enter an amount such as 25.00.'],
  [{ part: 'whole', reason: 'x'.repeat(201) }, 422, 'At most 200 characters'],
] as const)
  test(`a refund of ${JSON.stringify(fields).slice(0, 60)} is refused beside the field, and nothing typed is lost`, async () => {
    const { page, tx_reference } = await paid()
    const { seen } = await press(page, 'refund')
    const answer = await owner.submit(page, `${page}/refund`, { ...seen, reason: 'late "food"', ...fields })
    const html = await answer.text()
    expect(answer.status).toBe(http)
    expect(text(html)).toContain(words)
    if ('amount' in fields) expect(html).toMatch(/value="late &(quot|#34);food&(quot|#34);"/)
    expect(await refundsOf(tx_reference)).toEqual([])
  })

test('above the limits, the password is asked for again, and a second person approves', async () => {
  const { page, tx_reference } = await paid({ total: '85.00' })
  const { seen } = await press(page, 'refund')
  const submit = (amount: string) =>
    owner.submit(page, `${page}/refund`, { ...seen, part: 'part', amount, reason: 'cold' })
  await gateway.db.rows(sql`update user_sessions set confirmed_at = null where user_id = ${owner.user_id}`)
  const confirm = to(await submit('50.00')) ?? ''
  expect(confirm).toMatch(/^\/dashboard\/confirm\?next=/)
  const back = decodeURIComponent(confirm.slice('/dashboard/confirm?next='.length))
  const form = await owner.html(back)
  expect(form).toContain('value="50.00"')
  expect(form).toContain('value="cold"')
  expect(await refundsOf(tx_reference)).toEqual([])
  await gateway.db.rows(sql`update user_sessions set confirmed_at = now() where user_id = ${owner.user_id}`)
  expect(to(await submit('70.00'))).toBe(`${page}?done=waiting`)
  expect(to(await submit('70.00'))).toBe(`${page}?done=already`)
  expect(await refundsOf(tx_reference)).toEqual([])
  expect(await countOf(sql`select from refund_approvals where tx_reference = ${tx_reference}`)).toBe(1)
  expect(text(await owner.html(page))).toContain('Waits for a second person')
  const again = await press(page, 'refund')
  const made = await owner.submit(page, `${page}/refund`, { ...again.seen, part: 'part', amount: '50.00' })
  expect(to(made)).toBe(`${page}?done=refunded`)
  expect(await countOf(sql`select from user_mails where kind = 'alert'`)).toBeGreaterThan(0)
})

test('a refund in parts reaches the limits as one does', async () => {
  const { page, tx_reference } = await paid({ total: '85.00' })
  const part = async (amount: string) => {
    const { seen } = await press(page, 'refund')
    return to(await owner.submit(page, `${page}/refund`, { ...seen, part: 'part', amount }))
  }
  expect(await part('40.00')).toBe(`${page}?done=refunded`)
  expect(await part('20.00')).toBe(`${page}?done=refunded`)
  expect(await part('0.01')).toBe(`${page}?done=waiting`)
  expect((await refundsOf(tx_reference)).map(({ amount }) => amount)).toEqual([4000n, 2000n])
})

test('live refunds that the operator has not allowed are refused in words', async () => {
  const { page, tx_reference } = await paid()
  await gateway.db.rows(sql`update payments set mode = 'live' where tx_reference = ${tx_reference}`)
  const live = page.replace('/test/', '/live/')
  expect(text(await owner.html(live))).toContain('Refunds are switched off for your account.')
  const { seen } = await press(live, 'refund')
  const answer = await owner.submit(live, `${live}/refund`, { ...seen, part: 'whole' })
  expect(answer.status).toBe(409)
  expect(text(await answer.text())).toContain('Refunds are switched off for your account.')
})

test('markup in every field of a customer is shown as text', async () => {
  const markup = '"><script>x</script>'
  const { page, tx_reference } = await awaiting()
  await gateway.db.rows(sql`
    update payments set invoice_id = ${markup}, name = ${markup}, description = ${markup}, outlet = ${markup},
      number = ${markup}, email = ${markup}, pymt_instrument = ${markup}, payment_reference = ${markup},
      payment_method = ${markup}, status_reason = ${markup}
    where tx_reference = ${tx_reference}`)
  const reveal = await press(page, 'reveal')
  for (const html of [
    await owner.html(page),
    await owner.html(`${base}/payments?q=${encodeURIComponent(markup)}&outlet=${encodeURIComponent(markup)}`),
    await (await reveal.submit()).text(),
  ])
    expect(html).not.toContain('<script>x')
})

test('the CSV has exactly the payments of the list, in its order, with no formula', async () => {
  const other = await gateway.addMerchant()
  const { merchant_id } = other
  const list = `/dashboard/m/${merchant_id}/live/payments`
  const reader = await signedIn(gateway, { member: { merchant_id, role: 'accountant' } })
  const cells = ['=1+1', '+1', '-1', '@x', '\t=1', 'a "quoted", one', 'two\nlines']
  const payments = Array.from({ length: 1203 }, (_, at) => {
    const created_at = after(at, new Date('2026-03-02T12:00:00Z'))
    return aPayment({
      merchant_id,
      mode: 'live',
      tx_reference: newReference(created_at),
      tx_token: newToken(merchant_id, created_at),
      invoice_id: `C-${at}`,
      description: cells[at % cells.length] ?? '',
      email: at % 2 ? 'kofi@mail.example' : null,
      created_at,
    })
  })
  await storePayments(gateway.db, payments)
  const answer = await reader.get(`${list}.csv`)
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="payments-[\w-]+\.csv"$/)
  const csv = await answer.text()
  expect([...csv.matchAll(/,(C-\d+),/g)].map(([, id]) => id)).toEqual(
    payments.map(({ invoice_id }) => invoice_id).toReversed(),
  )
  expect(csv).toContain("'=1+1")
  expect(csv).not.toMatch(/(^|,)"?[=+@\t-]/m)
  expect(csv).toContain('kofi@mail.example') // an accountant may see it
  const all = await (await reader.get(`${list}.csv?q=C-`)).text() // more than the indexes return
  expect(all).toBe(csv)
  const one = await (await reader.get(`${list}.csv?q=C-12`)).text()
  expect([...one.matchAll(/,(C-\d+),/g)].map(([, id]) => id)).toEqual(['C-12'])
  const finance = await signedIn(gateway, { operator: 'finance' })
  const masked = await (await finance.get(`${list}.csv?q=C-1201`)).text()
  expect(masked).toContain('k••@••')
  expect(masked).not.toContain('kofi@mail')
  const developer = await signedIn(gateway, { member: { merchant_id, role: 'developer' } })
  expect((await developer.get(`${list}.csv`)).status).toBe(403)
  expect(await actionsOn(merchant_id)).toEqual(Array<string>(4).fill('payments.export'))
  const entries = await gateway.db.rows<{ after: unknown }>(
    sql`select after from audit_entries where subject = ${merchant_id}`,
  )
  expect(JSON.stringify(entries)).not.toContain('C-12')
})

test('a cashier reaches none of these pages, and an operator sees what the merchant sees', async () => {
  const { page } = await paid()
  const cashier = await signedIn(gateway, {
    member: { merchant_id: merchant.merchant_id, role: 'cashier', outlets: ['OSU'] },
  })
  for (const path of [`${base}/payments`, `${base}/payments.csv`, page, `${page}/refund`])
    expect((await cashier.get(path)).status).toBe(403)
  const operator = await signedIn(gateway, { operator: 'support' })
  expect(text(await operator.html(page))).toContain('You see what Ama Shop sees.')
  expect((await operator.get(`${page}/refund`)).status).toBe(403)
})
