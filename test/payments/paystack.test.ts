import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookIdOf } from '../../src/runtime/channels/webhookId.ts'
import { sql } from '../../src/store/db.ts'
import { openPaystack, type PaystackSimulator } from '../simulators/paystack/paystack.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant.ts'

// Whole payments: a shop, our pages, a played Paystack, and its webhooks.
const secretKey = 'sk_test_0f1e2d3c4b5a69788796a5b4c3d2e1f0'
let paystack: PaystackSimulator
let gateway: TestGateway
let shop: TestMerchant
let webhook_url: string
beforeAll(async () => {
  paystack = await openPaystack({ secretKey })
  gateway = await testGateway({
    PAYSTACK_SECRET_KEY: secretKey,
    PAYSTACK_URL: paystack.url,
    TOLLGATE_SANDBOX: 'off',
  })
  webhook_url = `${gateway.url}/callbacks/account/${webhookIdOf('paystack')}`
  paystack.settings({ webhook_url })
  shop = await gateway.addMerchant()
})
afterAll(async () => {
  await gateway.stop()
  await paystack.stop()
})

const email = 'kofi@example.test'

async function newCheckout(fields: Record<string, unknown> = { email }) {
  const request = signedRequest(shop.test, fields)
  const { checkout_url: url, tx_reference } = (await post(gateway.url, request)).body as Record<
    string,
    string
  >
  const { merchant_key } = shop.test
  const status = async () =>
    (await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).body.status as string
  return { url: url ?? '', tx_reference: tx_reference ?? '', status }
}

const submit = (url: string, fields: Record<string, string>) =>
  send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })

const payBy = (url: string, payment_method: string, typed: Record<string, string> = {}) =>
  submit(`${url}/pay`, {
    number: '1',
    payment_method,
    ...Object.fromEntries(Object.entries(typed).map(([name, text]) => [`${payment_method}.${name}`, text])),
  })

const stageOf = (url: string) => async () => (await send(`${url}/state`)).body.stage as string
const until = (url: string, stage: string) => expect.poll(stageOf(url)).toBe(stage)
const chargeOf = (phone: string) => paystack.book().find(charge => charge.phone === phone)
const keyOf = (phone: string) => ({ key: chargeOf(phone)?.reference ?? '' })

test('a prompt: paid by the webhook, which makes us ask', async () => {
  const { url, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0244100001' })
  await until(url, 'wait')
  expect(await status()).toBe('awaiting_payment')
  paystack.approve(keyOf('0244100001'))
  await expect.poll(status).toBe('paid')
})

test('the email that no shop has sent is asked for on the page', async () => {
  const { url, status } = await newCheckout({})
  expect((await send(url)).text).toContain('mtn_mobile_money.email')
  expect((await payBy(url, 'mtn_mobile_money', { phone: '0244100002' })).http).toBe(422)
  await payBy(url, 'mtn_mobile_money', { phone: '0244100002', email: 'ama@example.test' })
  await until(url, 'wait')
  expect(chargeOf('0244100002')).toMatchObject({ email: 'ama@example.test' })
  paystack.approve(keyOf('0244100002'))
  await expect.poll(status).toBe('paid')
})

test('a voucher: the same step on every device, wrong, right, paid', async () => {
  const { url, status } = await newCheckout()
  await payBy(url, 'telecel_cash', { phone: '0204100003' })
  await until(url, 'step')
  for (let device = 0; device < 2; device++) expect((await send(url)).text).toContain('*110#')
  const type = (submits: number, voucher_code: string) =>
    submit(`${url}/step`, { number: '1', submits: String(submits), voucher_code })
  await type(0, '000000')
  await expect.poll(async () => (await send(url)).text).toContain('registration token is invalid')
  await type(1, '123456')
  await until(url, 'wait')
  paystack.approve(keyOf('0204100003'))
  await expect.poll(status).toBe('paid')
})

test('a card: typed at Paystack, and back', async () => {
  const { url, status } = await newCheckout()
  await payBy(url, 'card')
  await until(url, 'wait')
  const [, page = ''] = /href="([^"]*\/pay\/[^"]*)"/.exec((await send(url)).text) ?? []
  expect(page).toContain(paystack.url)
  const back = (await submit(page, { decision: 'pay' })).headers.get('location') ?? ''
  expect(back).toContain(gateway.url)
  await send(back)
  await expect.poll(status).toBe('paid')
})

test('charged, and answered with HTTP 500: paid, and charged once', async () => {
  const { url, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0240000005' })
  await expect.poll(status).toBe('paid')
  expect(paystack.book().filter(({ phone }) => phone === '0240000005')).toHaveLength(1)
})

test('another amount is not paid', async () => {
  const { url, tx_reference, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0240000009' })
  await expect.poll(() => tasksOf(tx_reference)).toEqual(['amount_mismatch'])
  expect(await status()).toBe('awaiting_payment')
})

const tasksOf = async (tx_reference: string) =>
  (
    await gateway.db.rows<{ kind: string }>(sql`select kind from tasks where tx_reference = ${tx_reference}`)
  ).map(({ kind }) => kind)

test('forged webhooks are refused, and change nothing', async () => {
  const { url, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0244100006' })
  await until(url, 'wait')
  for (const kind of ['unsigned', 'forged', 'altered'] as const)
    expect(await paystack.hook({ ...keyOf('0244100006'), kind })).toBeGreaterThanOrEqual(400)
  for (const kind of ['wrong_amount', 'other_order'] as const)
    expect(await paystack.hook({ ...keyOf('0244100006'), kind })).toBe(200)
  expect(await status()).toBe('awaiting_payment')
})

test('money that went back is a task; the payment stays paid', async () => {
  const { url, tx_reference, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0244100007' })
  await until(url, 'wait')
  paystack.approve(keyOf('0244100007'))
  await expect.poll(status).toBe('paid')
  for (let times = 0; times < 2; times++) expect(await paystack.dispute(keyOf('0244100007'))).toBe(200)
  await expect.poll(() => tasksOf(tx_reference)).toHaveLength(1)
  expect(await status()).toBe('paid')
})

// The last: all that was logged above.
test('no secret key, no number and no address of a customer is logged', () => {
  const all = gateway.logs.join('\n')
  for (const secret of [secretKey, '244100', '204100', email, '123456']) expect(all).not.toContain(secret)
})
