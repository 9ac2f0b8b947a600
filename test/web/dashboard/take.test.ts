import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MerchantRole } from '../../../src/core/access/permissions.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { reference } from '../../../src/core/payment/reference.ts'
import { takenLimits } from '../../../src/core/payment/takenPayment.ts'
import { newTakenForm } from '../../../src/runtime/ids.ts'
import { type Query, sql, type Tx } from '../../../src/store/db.ts'
import { addOutlet } from '../../../src/store/merchants/merchants.ts'
import {
  addTakenPayment,
  countOpenTaken,
  findTakenPayment,
  listTakenAtOutlet,
  listTakenPayments,
} from '../../../src/store/payments/takenPayments.ts'
import { type DashboardClient, formTokenIn, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let merchant: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  merchant = await gateway.addMerchant('ipn_url=http://127.0.0.1:9/ipn')
  for (const [code, name] of [
    ['osu', 'Osu'],
    ['tema', 'Tema <b>'],
  ] as const)
    await addOutlet(gateway.db, { merchant_id: merchant.merchant_id, code, name, created_at: new Date() })
})
afterAll(() => gateway.stop())

const base = (mode = 'test') => `/dashboard/m/${merchant.merchant_id}/${mode}`
const member = (role: MerchantRole, outlets?: readonly string[]) =>
  signedIn(gateway, { member: { merchant_id: merchant.merchant_id, role, outlets } })

const input = (fields: Record<string, string> = {}) => ({
  form_id: newTakenForm(),
  total: '35.00',
  currency: 'GHS',
  ...fields,
})

const take = (user: DashboardClient, fields: Record<string, string> = {}, mode = 'test') =>
  user.submit(`${base(mode)}/take`, `${base(mode)}/take`, input(fields))

const referenceIn = (answer: Response) =>
  /\/take\/(TG-[0-9A-Z-]+)/.exec(answer.headers.get('location') ?? '')?.[1] ?? ''

const paymentOf = (tx_reference: string) =>
  gateway.db.one<Payment>(sql`
    select * from payments where merchant_id = ${merchant.merchant_id} and tx_reference = ${tx_reference}`)

const takenBy = (user: DashboardClient) =>
  gateway.db.rows<{ tx_reference: string }>(sql`
    select tx_reference from taken_payments
    where merchant_id = ${merchant.merchant_id} and user_id = ${user.user_id}`)

for (const mode of ['test', 'live'] as const)
  test(`a payment is taken in ${mode} mode, recorded and audited`, async () => {
    const cashier = await member('cashier', ['osu'])
    const answer = await take(cashier, { outlet: 'osu', description: '2 × Jollof <i>' }, mode)
    expect(answer.status).toBe(303)
    const tx_reference = referenceIn(answer)
    expect(await paymentOf(tx_reference)).toMatchObject({
      mode,
      total: 3500n,
      currency: 'GHS',
      outlet: 'osu',
      status: 'awaiting_payment',
      invoice_id: expect.stringMatching(/^tollgate:[0-9a-z]{12}$/),
    })
    expect(await takenBy(cashier)).toEqual([{ tx_reference }])
    const [entry] = await gateway.db.rows(sql`
      select action, subject, actor_id, after from audit_entries where subject = ${tx_reference}`)
    expect(entry).toEqual({
      action: 'payment.take',
      subject: tx_reference,
      actor_id: cashier.user_id,
      after: { mode, amount: 'GHS 35.00', outlet: 'osu' },
    })
    const page = await cashier.html(`${base(mode)}/take/${tx_reference}`)
    expect(page).toContain('GHS 35.00')
    expect(page).toContain('2 × Jollof &lt;i&gt;')
    expect(page).toMatch(/\/checkout\/[0-9a-z]{42}/)
    expect(await cashier.html(`${base(mode)}/take`)).toContain(`/take/${tx_reference}`)
  })

test('a cashier of one outlet sees its day, others their own', async () => {
  const other = await gateway.addMerchant()
  const { merchant_id } = other
  for (const code of ['kumasi', 'ho'])
    await addOutlet(gateway.db, { merchant_id, code, name: `Place ${code}`, created_at: new Date() })
  const cashierOf = (outlets?: readonly string[]) =>
    signedIn(gateway, { member: { merchant_id, role: 'cashier', outlets } })
  const page = `/dashboard/m/${merchant_id}/test/take`
  const [ama, esi, yaw, all] = [
    await cashierOf(['kumasi']),
    await cashierOf(['kumasi']),
    await cashierOf(['ho']),
    await cashierOf(),
  ]
  const takeAt = async (user: DashboardClient, outlet: string, total: string) =>
    referenceIn(await user.submit(page, page, input({ outlet, total })))
  const [mine, theirs] = [await takeAt(ama, 'kumasi', '12.00'), await takeAt(esi, 'kumasi', '13.00')]
  await takeAt(yaw, 'ho', '14.00')
  await takeAt(all, 'kumasi', '15.00')
  await gateway.db.rows(sql`
    update payments set status = 'paid' where merchant_id = ${merchant_id} and outlet = 'kumasi'`)
  const seen = await ama.html(page)
  expect(seen).toContain('Place kumasi today')
  expect(seen).toContain('3 paid, GHS 40.00')
  for (const amount of ['12.00', '13.00', '15.00']) expect(seen).toContain(`GHS ${amount}`)
  expect(seen).not.toContain('14.00')
  expect(seen).toContain(`/take/${mine}`)
  expect(seen).not.toContain(`/take/${theirs}`)
  expect((await ama.get(`${page}/${theirs}`)).status).toBe(404)
  const own = await all.html(page)
  expect(own).toContain('Taken by you today')
  expect(own).toContain('1 paid, GHS 15.00')
  expect(await ama.html(page.replace('/test/', '/live/'))).toContain('What your team takes here')
})

test('a form that is submitted twice at once is one payment, asked of the phone once', async () => {
  const cashier = await member('cashier')
  const form_token = formTokenIn(await cashier.html(`${base()}/take`))
  const body = new URLSearchParams({ ...input({ phone: '024 412 3456' }), form_token })
  const post = () =>
    fetch(`${gateway.url}${base()}/take`, {
      method: 'POST',
      headers: { cookie: cashier.cookie, origin: gateway.url },
      body,
      redirect: 'manual',
    })
  const answers = await Promise.all([post(), post(), post()])
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
  const references = new Set(answers.map(referenceIn))
  expect(references.size).toBe(1)
  expect(await takenBy(cashier)).toHaveLength(1)
  const [tx_reference = ''] = references
  const attempts = await gateway.db.rows(sql`
    select payment_method, instrument from attempts
    where merchant_id = ${merchant.merchant_id} and tx_reference = ${tx_reference}`)
  expect(attempts).toEqual([{ payment_method: 'mtn_mobile_money', instrument: '+233244123456' }])
  expect(await cashier.html(`${base()}/take/${tx_reference}`)).toContain('Waiting for 024 ••• 3456')
})

test('the same form with other input makes no second payment, and says which one it made', async () => {
  const owner = await member('owner')
  const form_id = newTakenForm()
  const tx_reference = referenceIn(await take(owner, { form_id }))
  const again = await take(owner, { form_id, total: '40.00' })
  expect(again.status).toBe(409)
  const page = await again.text()
  expect(page).toContain(`/take/${tx_reference}`)
  expect(page).toContain('value="40.00"')
  expect(await takenBy(owner)).toHaveLength(1)
})

for (const [what, fields, fault] of [
  ['no amount', { total: '' }, 'Write an amount'],
  ['too many decimals', { total: '5.001' }, 'Write an amount from GHS 0.01'],
  ['a foreign currency', { currency: 'USD' }, 'Write an amount'],
  ['letters as phone', { phone: 'abc' }, 'Write a phone number'],
  ['half an address', { email: 'ama@' }, 'Write an email address'],
  ['an unknown outlet', { outlet: 'kumasi' }, 'Choose an outlet'],
] as const)
  test(`${what} is refused beside the field, and nothing is lost`, async () => {
    const owner = await member('owner')
    const answer = await take(owner, { description: 'Two plates', ...fields })
    expect(answer.status).toBe(422)
    const page = await answer.text()
    expect(page).toContain(fault)
    expect(page).toContain('value="Two plates"')
    expect(await takenBy(owner)).toEqual([])
  })

test('a cashier takes payments only for the outlets that he has, also when they change meanwhile', async () => {
  const cashier = await member('cashier', ['osu'])
  expect(await cashier.html(`${base()}/take`)).not.toContain('Tema')
  for (const outlet of ['tema', '']) expect((await take(cashier, { outlet })).status).toBe(422)
  await gateway.db.rows(sql`
    update memberships set outlets = '{tema}'
    where merchant_id = ${merchant.merchant_id} and user_id = ${cashier.user_id}`)
  expect((await take(cashier, { outlet: 'osu' })).status).toBe(422)
  const page = await cashier.html(`${base()}/take`)
  expect(page).toContain('Tema &lt;b&gt;')
  expect(page).not.toContain('<option value="">')
})

test('nobody sees a payment that another user took, nor in the other mode', async () => {
  const [one, other] = [await member('cashier'), await member('owner')]
  const tx_reference = referenceIn(await take(one))
  for (const [user, mode] of [
    [other, 'test'],
    [one, 'live'],
  ] as const) {
    expect((await user.get(`${base(mode)}/take/${tx_reference}`)).status).toBe(404)
    expect((await user.get(`${base(mode)}/take/${tx_reference}/state`)).status).toBe(404)
    await user.submit(`${base(mode)}/take`, `${base(mode)}/take/${tx_reference}/cancel`)
  }
  expect(await paymentOf(tx_reference)).toMatchObject({ status: 'awaiting_payment' })
  expect(await other.html(`${base()}/take`)).not.toContain(tx_reference)
})

test('developers and operators take no payments', async () => {
  const users = [await member('developer'), await signedIn(gateway, { operator: 'admin' })]
  for (const user of users) expect((await user.get(`${base()}/take`)).status).toBe(403)
})

test('a payment is cancelled once, by two windows at once too', async () => {
  const cashier = await member('cashier')
  const tx_reference = referenceIn(await take(cashier))
  const page = `${base()}/take/${tx_reference}`
  const answers = await Promise.all([
    cashier.submit(page, `${page}/cancel`),
    cashier.submit(page, `${page}/cancel`),
  ])
  for (const answer of answers) expect(answer.headers.get('location')).toBe(page)
  expect(await paymentOf(tx_reference)).toMatchObject({ status: 'cancelled' })
  const entries = await gateway.db.rows(sql`
    select 1 from audit_entries where subject = ${tx_reference} and action = 'payment.cancel'`)
  expect(entries).toHaveLength(1)
  expect(await cashier.html(page)).toContain('Nothing was taken.')
})

test('a user takes a limited number of payments in a minute', async () => {
  const cashier = await member('cashier')
  for (let n = 0; n < takenLimits.inMinute; n++) expect((await take(cashier)).status).toBe(303)
  const form_id = newTakenForm()
  const refused = await take(cashier, { form_id, description: 'Two plates' })
  expect(refused.status).toBe(429)
  const page = await refused.text()
  expect(page).toContain('within a minute')
  expect(page).toContain('value="Two plates"')
  expect(await takenBy(cashier)).toHaveLength(takenLimits.inMinute)
  expect((await take(await member('cashier'))).status).toBe(303) // another user has limits of his own
})

test('a user has a limited number of open payments', async () => {
  const cashier = await member('cashier')
  const earlier = Date.now() - 5 * 60_000
  const some = referenceIn(await take(cashier))
  for (let n = 1; n < takenLimits.open; n++) {
    const tx_reference = reference(earlier, n)
    await gateway.db.rows(sql`
      insert into payments select (jsonb_populate_record(p, jsonb_build_object('tx_reference', ${tx_reference}::text,
        'invoice_id', ${`tollgate:${n}`}::text, 'tx_token', ${tx_reference}::text))).*
      from payments p where merchant_id = ${merchant.merchant_id} and tx_reference = ${some}`)
    await addTakenPayment(gateway.db, {
      merchant_id: merchant.merchant_id,
      user_id: cashier.user_id,
      mode: 'test',
      tx_reference,
    })
  }
  const refused = await take(cashier)
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain('still open')
  await cashier.submit(`${base()}/take`, `${base()}/take/${some}/cancel`)
  expect((await take(cashier)).status).toBe(303)
})

test('a merchant that is deactivated takes no payments', async () => {
  const other = await gateway.addMerchant()
  const owner = await signedIn(gateway, { member: { merchant_id: other.merchant_id, role: 'owner' } })
  await gateway.deactivate(other.merchant_id)
  const page = `/dashboard/m/${other.merchant_id}/test/take`
  const answer = await owner.submit(page, page, input())
  expect(answer.status).toBe(409)
  expect(await answer.text()).toContain('takes no payments at the moment')
})

for (const [invoice_id, status, code] of [
  ['tollgate:1', 400, 'GW-012'],
  ['tollgate:7k3mq9xd0000', 400, 'GW-012'],
  ['TOLLGATE:1', 200, undefined],
  ['tollgate-1', 200, undefined],
] as const)
  test(`the API answers ${status} for the invoice ${invoice_id}`, async () => {
    const fields = signedRequest(merchant.test, { invoice_id })
    const answer = await fetch(`${gateway.url}/v1/mobile_agents_v2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    })
    expect(answer.status).toBe(status)
    if (code) expect(await answer.json()).toMatchObject({ error: { code, field: 'invoice_id' } })
  })

test('the payments that a user took are found by their key, whatever the number of other payments', async () => {
  const { merchant_id } = merchant
  await gateway.db.rows(sql`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, request_digest,
      created_at, updated_at, expires_at)
    select ${merchant_id}, 'TG-000000-000000-' || lpad(n::text, 6, '0'), 'test', 'X-' || n, 'x' || n, 'paid', 100, 'GHS', '',
      now(), now(), now() from generate_series(1, 3000) n`)
  await gateway.db.rows(sql`analyze payments, taken_payments`)
  const taker = { merchant_id, user_id: 'u_1', since: 'TG-0', tx_reference: 'TG-1' }
  const plans: string[] = []
  const explain = async <Row>(query: Query): Promise<Row[]> => {
    plans.push(JSON.stringify(await gateway.db.rows(sql`explain (costs off) ${query}`)))
    return []
  }
  const explaining: Tx = {
    ...gateway.db,
    rows: explain,
    one: async <Row>(query: Query) => (await explain<Row>(query))[0],
  }
  await listTakenPayments(explaining, { ...taker, mode: 'test' }, 10)
  await countOpenTaken(explaining, taker, new Date(), 10)
  await findTakenPayment(explaining, taker)
  await listTakenAtOutlet(explaining, { merchant_id, outlet: 'osu', since: 'TG-0', mode: 'test' }, 10)
  expect(plans).toHaveLength(5)
  const [cut, ...joined] = plans.toReversed()
  expect(cut).toMatch(/taken_payments_pkey/)
  for (const plan of joined)
    expect(plan).toMatch(/payments_pkey on payments p.*Index Cond: [^}]*tx_reference = \(?[t']/)
})
