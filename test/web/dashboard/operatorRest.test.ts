import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type DashboardClient, signedIn } from '../../support/dashboard/signedIn.ts'
import { operatorToken } from '../../support/gateway/operatorAuth.ts'
import { testGateway, type TestGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { post, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let merchant: TestMerchant
let admin: DashboardClient
let finance: DashboardClient
let reader: DashboardClient
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant()
  admin = await signedIn(gateway, { operator: 'admin', name: 'Esi Adjei' })
  finance = await signedIn(gateway, { operator: 'finance' })
  reader = await signedIn(gateway, { operator: 'read_only' })
})
afterAll(() => gateway.stop())

const base = '/dashboard/operator'
const to = (answer: Response) => [answer.status, answer.headers.get('location')]
const noticesOf = (answers: readonly Response[]) =>
  answers
    .map(answer => answer.headers.get('location')?.split('done=')[1] ?? '')
    .toSorted((a, b) => a.localeCompare(b))

const addPayment = async (fields: Record<string, unknown> = {}) =>
  (await post(gateway.url, signedRequest(merchant.test, fields))).body as {
    tx_reference: string
    invoice_id: string
  }

// A paid payment with a refund whose outcome is unknown.
async function addRefund(state = 'unknown') {
  const { tx_reference, invoice_id } = await addPayment()
  const { merchant_id } = merchant
  const attempt_id = `${merchant_id}${tx_reference}`
  const refund_reference = `${merchant_id}r${tx_reference}`
  await gateway.db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, mode, payment_method, state,
      charged, created_at, updated_at, ended_at)
    values (${merchant_id}, ${attempt_id}, ${tx_reference}, 1, 'sandbox', 'test', 'card', 'paid', 2500, now(), now(),
      now())`)
  await gateway.db.rows(sql`
    update payments set status = 'paid', paid_attempt_id = ${attempt_id}, charged = 2500, payment_time = now()
    where tx_reference = ${tx_reference}`)
  await gateway.db.rows(sql`
    insert into refunds (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_id, source, kind,
      provider_account, amount, currency, requested_by, state, created_at, updated_at)
    values (${merchant_id}, ${refund_reference}, 'test', ${tx_reference}, ${invoice_id}, ${attempt_id}, 'payment',
      'provider', 'sandbox', 1000, 'GHS', 'operator', ${state}, now(), now())`)
  const fields = { merchant: merchant_id, refund: refund_reference }
  const record = (client: DashboardClient, more: Record<string, string>) =>
    client.submit(`${base}/refunds`, `${base}/refunds/record`, { ...fields, ...more })
  const stateOf = async () =>
    (await gateway.db.one<{ state: string; recorded_reference: string | null }>(
      sql`select state, recorded_reference from refunds where refund_reference = ${refund_reference}`,
    )) as { state: string; recorded_reference: string | null }
  return { refund_reference, record, stateOf }
}

test('what became of a refund is recorded once, with who did it, and only by those who may', async () => {
  const { record, stateOf, refund_reference } = await addRefund()
  expect(await reader.html(`${base}/refunds`)).toContain('Outcome unknown')
  const good = { outcome: 'succeeded', at: '2026-01-05', reference: 'FT-7781' }
  expect((await record(reader, good)).status).toBe(403)
  for (const [typed, field] of [
    [{ ...good, outcome: '' }, 'Choose what became of it'],
    [{ ...good, at: '2999-01-01' }, 'not in the future'],
    [{ ...good, at: 'yesterday', reference: '<b>kept</b>' }, '&lt;b&gt;kept'],
    [{ outcome: 'failed', note: '' }, '1 to 500 characters'],
  ] as const) {
    const answer = await record(finance, typed)
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain(field)
  }
  const answers = await Promise.all([record(finance, good), record(admin, good)])
  expect(noticesOf(answers)).toEqual(['already', 'recorded'])
  expect(await stateOf()).toEqual({ state: 'succeeded', recorded_reference: 'FT-7781' })
  const entries = await gateway.db.rows(sql`
    select action from audit_entries where subject = ${refund_reference}`)
  expect(entries).toEqual([{ action: 'refund.record' }])
})

test('a refund above the limit is approved once, by another person than the one who asked', async () => {
  const { tx_reference, invoice_id } = await addPayment()
  const { merchant_id } = merchant
  const refund_reference = `${merchant_id}approval`
  await gateway.db.rows(sql`
    insert into refund_approvals (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_number, source,
      amount, currency, reason, requested_by, requester_id, state, created_at, expires_at)
    values (${merchant_id}, ${refund_reference}, 'test', ${tx_reference}, ${invoice_id}, 1, 'payment', 1000, 'GHS',
      '<b>broken</b>', 'operator', ${admin.user_id}, 'waiting', now(), now() + interval '7 days')`)
  const fields = { merchant: merchant_id, refund: refund_reference }
  const decide = (client: DashboardClient, how: string, more = {}) =>
    client.submit(`${base}/refunds`, `${base}/refunds/${how}`, { ...fields, ...more })
  expect(await admin.html(`${base}/refunds`)).toContain('another person decides')
  expect(await finance.html(`${base}/refunds`)).toContain('&lt;b&gt;broken')
  expect((await decide(admin, 'approve')).status).toBe(422)
  expect((await decide(reader, 'approve')).status).toBe(403)
  expect((await decide(finance, 'reject', { reason: '' })).status).toBe(422)
  const answers = await Promise.all([
    decide(finance, 'reject', { reason: 'Not ours' }),
    decide(finance, 'reject', { reason: 'Not ours' }),
  ])
  expect(noticesOf(answers)).toEqual(['already', 'rejected'])
  expect((await decide(finance, 'approve')).status).toBe(422)
})

test('messages are listed by state with masked recipients, and what a messenger said is no markup', async () => {
  const { tx_reference } = await addPayment()
  await gateway.db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, state, words,
      tries, created_at, ended_at)
    select ${merchant.merchant_id}, 'm' || n, 'test', 'sms', 'paid', '+233244123456', 'en', ${tx_reference},
      case when n <= 60 then 'dropped' else 'sent' end, '<i>no such number</i> +233244123456', 3,
      now() - n * interval '1 minute', now()
    from generate_series(1, 70) n`)
  const failed = await admin.html(`${base}/messages?state=failed`)
  expect(failed.match(/Not sent/g)?.length).toBe(50)
  expect(failed).toContain('024 ••• 3456')
  expect(failed).toContain('&lt;i&gt;no such number')
  expect(failed).not.toMatch(/244123456/)
  const next = /href="([^"]*before=[^"]*)"/.exec(failed)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect((await admin.html(next)).match(/Not sent/g)?.length).toBe(10)
  expect((await admin.html(`${base}/messages?state=sent`)).match(/Not sent/g)).toBeNull()
  expect((await finance.get(`${base}/messages`)).status).toBe(403)
})

test('an operator finds a payment of any merchant, and it leads to the page that the merchant sees', async () => {
  const other = await gateway.addMerchant()
  const { tx_reference } = await addPayment({ number: '0551234987' })
  const { body } = await post(gateway.url, signedRequest(other.test, { number: '0551234987' }))
  const page = `/dashboard/m/${merchant.merchant_id}/test/payments/${tx_reference}`
  expect(to(await reader.get(`${base}/search?q=${tx_reference}`))).toEqual([303, page])
  expect((await reader.get(page)).status).toBe(200)
  const both = await reader.html(`${base}/search?q=055%20123%204987`)
  expect(both).toContain(tx_reference)
  expect(both).toContain(body.tx_reference)
  expect(both).not.toContain('0551234987"')
  const none = await reader.get(`${base}/search?q=${encodeURIComponent('<script>alert(1)</script>')}`)
  expect(none.status).toBe(404)
  expect(await none.text()).not.toContain('<script>alert')
  const owner = await signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  expect((await owner.get(`${base}/search?q=${tx_reference}`)).status).toBe(404)
})

test('the support token opens the support page, and nothing of the dashboard', async () => {
  const authorization = `Basic ${Buffer.from(`esi:${operatorToken}`).toString('base64')}`
  const open = (path: string, method = 'GET') =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization, accept: 'text/html', origin: gateway.url },
      redirect: 'manual',
    })
  expect((await open('/support')).status).toBe(200)
  for (const path of [
    '',
    '/merchants',
    '/merchants/new',
    '/accounts',
    '/tasks',
    '/refunds',
    '/messages',
    '/search',
  ])
    expect(to(await open(`${base}${path}`))[1], path).toContain('/dashboard/sign-in')
  for (const path of ['/merchants/new', `/merchants/${merchant.merchant_id}/active`, '/refunds/record'])
    expect(to(await open(`${base}${path}`, 'POST'))[1], path).toContain('/dashboard/sign-in')
  const merchantPage = await open(`/dashboard/m/${merchant.merchant_id}/test/payments`)
  expect(to(merchantPage)[1]).toContain('/dashboard/sign-in')
})
