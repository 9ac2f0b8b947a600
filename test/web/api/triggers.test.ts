import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { checkStatus, newInvoice, post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../../support/merchant/receiver.ts'
import { nowSeconds, postJson, signedFields, trigger } from '../../support/merchant/testTools.ts'

vi.setConfig({ testTimeout: 60_000 })

let gateway: TestGateway
let receiver: Receiver
let shop: TestMerchant
beforeAll(async () => {
  receiver = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  shop = await gateway.addMerchant(`ipn_url=${receiver.url}/ipn`)
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

const statusOf = async (invoice_id: string) =>
  (await checkStatus(gateway.url, { merchant_key: shop.test.merchant_key, invoice_id })).body

// The statuses of the notifications that arrived, in order.
const toldOf = (tx_reference: string) =>
  receiver.of(tx_reference).map(({ body }) => JSON.parse(body).status as string)

const tasksOf = async (tx_reference: string) =>
  (
    await gateway.db.rows<{ kind: string }>(sql`select kind from tasks where tx_reference = ${tx_reference}`)
  ).map(({ kind }) => kind)

const attemptsOf = async (tx_reference: string) =>
  (
    await gateway.db.rows<{ state: string }>(
      sql`select state from attempts where tx_reference = ${tx_reference} order by number`,
    )
  ).map(({ state }) => state)

type End = { status: string; reason: string; told: string[]; tasks?: string[]; attempts: string[] }

const ends: Record<string, End> = {
  paid: { status: 'paid', reason: '', told: ['paid'], attempts: ['paid'] },
  failed: {
    status: 'failed',
    reason: 'The provider refused the payment.',
    told: ['failed'],
    attempts: ['failed'],
  },
  declined: {
    status: 'failed',
    reason: 'The customer declined on the phone.',
    told: ['failed'],
    attempts: ['failed'],
  },
  no_money: {
    status: 'failed',
    reason: 'Not enough money in the account.',
    told: ['failed'],
    attempts: ['failed'],
  },
  no_answer: { status: 'awaiting_payment', reason: '', told: [], attempts: ['pending'] },
  cancelled: { status: 'cancelled', reason: 'The customer cancelled.', told: ['cancelled'], attempts: [] },
  expired: {
    status: 'failed',
    reason: 'The checkout expired before it was paid.',
    told: ['failed'],
    attempts: [],
  },
  late: {
    status: 'paid',
    reason: 'The money arrived late.',
    told: ['failed', 'paid'],
    attempts: ['paid'],
  },
  wrong_amount: {
    status: 'awaiting_payment',
    reason: '',
    told: [],
    tasks: ['amount_mismatch'],
    attempts: ['disputed'],
  },
  paid_twice: {
    status: 'paid',
    reason: '',
    told: ['paid'],
    tasks: ['refund'],
    attempts: ['paid', 'paid'],
  },
}

for (const [outcome, end] of Object.entries(ends))
  test.concurrent(`the outcome ${outcome} ends as ${end.status}, with the right notifications and tasks`, async () => {
    const { http, body } = await trigger(gateway.url, shop.test, { outcome })
    expect(http, JSON.stringify(body)).toBe(200)
    const { invoice_id, tx_reference } = body
    expect(body).toMatchObject({ success: true, outcome })
    expect(body.checkout_url).toMatch(new RegExp(`^${gateway.url}/checkout/[0-9a-z]{42}$`))
    await vi.waitFor(
      async () => {
        const { status, status_reason } = await statusOf(invoice_id)
        expect({
          status,
          reason: status_reason,
          told: toldOf(tx_reference),
          tasks: await tasksOf(tx_reference),
          attempts: await attemptsOf(tx_reference),
        }).toEqual({ tasks: [], ...end })
      },
      { timeout: 30_000, interval: 200 },
    )
    const page = await send(body.checkout_url, { headers: { accept: 'text/html' } })
    expect(page.http).toBe(outcome === 'expired' ? 410 : 200)
    // The same again changes nothing.
    const again = await trigger(gateway.url, shop.test, { outcome, invoice_id })
    expect(again.body).toMatchObject({ success: true, tx_reference, status: end.status })
    expect(await attemptsOf(tx_reference)).toEqual(end.attempts)
    expect(toldOf(tx_reference)).toEqual(end.told)
  })

test('a payment that the shop has requested is driven to the outcome', async () => {
  const request = signedRequest(shop.test, { total: '42.00', description: 'Two hats' })
  const { body: stored } = await post(gateway.url, request)
  const { invoice_id } = request
  const { body } = await trigger(gateway.url, shop.test, { outcome: 'paid', invoice_id })
  expect(body).toMatchObject({ tx_reference: stored.tx_reference, checkout_url: stored.checkout_url })
  await expect.poll(async () => (await statusOf(invoice_id)).status).toBe('paid')
  await expect
    .poll(async () => (await trigger(gateway.url, shop.test, { outcome: 'paid', invoice_id })).body.message)
    .toBe('This payment was begun before, so nothing was started. Use a new invoice_id.')
  const other = await trigger(gateway.url, shop.test, { outcome: 'paid', invoice_id, total: '43.00' })
  expect(other).toMatchObject({ http: 409, body: { error: { code: 'GW-005', field: 'invoice_id' } } })
})

test('a trigger of five at once makes one payment and one attempt', async () => {
  const invoice_id = newInvoice()
  const all = await Promise.all(
    [1, 2, 3, 4, 5].map(() => trigger(gateway.url, shop.test, { outcome: 'paid', invoice_id })),
  )
  expect(new Set(all.map(({ body }) => body.tx_reference)).size).toBe(1)
  await expect.poll(() => attemptsOf(all[0]?.body.tx_reference)).toEqual(['paid'])
})

const formOf = (fields: Record<string, string | number>) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]))

test('the details of the new payment are those of the request, as JSON or as a form', async () => {
  const details = {
    outcome: 'no_answer',
    total: '12.5',
    currency: 'GHS',
    email: 'ama@mail.example',
    number: '0241234567',
    ipn_url: `${receiver.url}/own?a=1&b=2`,
  }
  const { body } = await trigger(gateway.url, shop.test, details)
  const form = await send(`${gateway.url}/v1/test/triggers`, {
    method: 'POST',
    body: formOf(signedFields(shop.test, details)),
  })
  for (const { tx_reference } of [body, form.body])
    expect(
      await gateway.db.one(sql`select total, currency, email, number, ipn_url, mode, description from payments
        where tx_reference = ${tx_reference}`),
    ).toEqual({
      total: 1250n,
      currency: 'GHS',
      email: 'ama@mail.example',
      number: '+233241234567',
      ipn_url: details.ipn_url,
      mode: 'test',
      description: 'Test trigger: no_answer',
    })
})

const ask = (fields: Record<string, unknown>) => postJson(`${gateway.url}/v1/test/triggers`, fields)

for (const [what, fieldsOf, http, code, field] of [
  [
    'a forged hash',
    () => ({ ...signedFields(shop.test, { outcome: 'paid' }), total: '1' }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    'no hash',
    () => ({ ...signedFields(shop.test, { outcome: 'paid' }), secure_hash: undefined }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    'a stale time',
    () => signedFields(shop.test, { outcome: 'paid', time: nowSeconds() - 400 }),
    401,
    'GW-010',
    'time',
  ],
  ['no time', () => ({ merchant_key: shop.test.merchant_key, outcome: 'paid' }), 400, 'GW-012', 'time'],
  ['no key', () => ({ outcome: 'paid', time: nowSeconds() }), 400, 'GW-001', 'merchant_key'],
  [
    'an unknown key',
    () => signedFields({ merchant_key: 'tk_nobody', secret_key: '00' }, { outcome: 'paid' }),
    401,
    'GW-008',
    'merchant_key',
  ],
  ['a live key', () => signedFields(shop.live, { outcome: 'paid' }), 403, 'GW-015', 'merchant_key'],
  ['an unknown outcome', () => signedFields(shop.test, { outcome: 'payed' }), 400, 'GW-012', 'outcome'],
  ['no outcome', () => signedFields(shop.test), 400, 'GW-012', 'outcome'],
  [
    'an unknown field',
    () => signedFields(shop.test, { outcome: 'paid', amount: '5' }),
    400,
    'GW-012',
    'amount',
  ],
  [
    'a total with three decimals',
    () => signedFields(shop.test, { outcome: 'paid', total: '5.001' }),
    400,
    'GW-012',
    'total',
  ],
  [
    'a total with an outcome of its own',
    () => signedFields(shop.test, { outcome: 'paid', total: '0.03' }),
    400,
    'GW-012',
    'total',
  ],
  [
    'another currency',
    () => signedFields(shop.test, { outcome: 'paid', currency: 'USD' }),
    400,
    'GW-012',
    'currency',
  ],
  [
    'an invalid invoice_id',
    () => signedFields(shop.test, { outcome: 'paid', invoice_id: 'a&b' }),
    400,
    'GW-012',
    'invoice_id',
  ],
  [
    'an ipn_url that is none',
    () => signedFields(shop.test, { outcome: 'paid', ipn_url: 'shop' }),
    400,
    'GW-012',
    'ipn_url',
  ],
] as const)
  test(`${what} is refused with ${code} and the field ${field}`, async () => {
    const before = await gateway.db.one(sql`select count(*) from payments`)
    const answer = await ask(fieldsOf())
    expect(answer).toMatchObject({ http, body: { success: false, error: { code, field } } })
    expect(await gateway.db.one(sql`select count(*) from payments`)).toEqual(before)
  })

test('a wrong hash is explained in test mode', async () => {
  const time = nowSeconds()
  const { body } = await ask({
    ...signedFields(shop.test, { outcome: 'paid', time }),
    secure_hash: '0'.repeat(64),
  })
  expect(body.error.hint).toEqual({
    hashed_string: `merchant_key=${shop.test.merchant_key}&outcome=paid&time=${time}`,
    likely_mistake: expect.stringContaining('another secret_key'),
  })
})

test('a deactivated merchant is refused', async () => {
  const closed = await gateway.addMerchant()
  await gateway.deactivate(closed.merchant_id)
  const answer = await trigger(gateway.url, closed.test, { outcome: 'paid' })
  expect(answer).toMatchObject({ http: 403, body: { error: { code: 'GW-009' } } })
})

test('without the simulated provider nothing is stored', async () => {
  const bare = await testGateway({ TOLLGATE_SANDBOX: 'off' })
  const { test: keys } = await bare.addMerchant()
  const answer = await trigger(bare.url, keys, { outcome: 'paid' })
  expect(answer).toMatchObject({ http: 400, body: { error: { code: 'GW-012', field: 'outcome' } } })
  expect(await bare.db.rows(sql`select 1 from payments`)).toEqual([])
  await bare.stop()
})
