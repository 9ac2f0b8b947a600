import { afterAll, beforeAll, expect, test } from 'vitest'
import { addAccount, newIdentity, prepareAccount } from '../../src/actions/providers/addAccount.ts'
import type { Mode } from '../../src/core/mode.ts'
import { loadProviders } from '../../src/runtime/providerAccounts.ts'
import { webhookIdOf } from '../../src/runtime/providers/accounts.ts'
import { sql } from '../../src/store/db.ts'
import { openPaystack, type PaystackSimulator } from '../simulators/paystack/paystack.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'
import { exampleTools } from '../support/providers/exampleProvider.ts'

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

async function newCheckout(fields: Record<string, unknown> = { email }, mode: Mode = 'test') {
  const request = signedRequest(shop[mode], fields)
  const { checkout_url: url, tx_reference } = (await post(gateway.url, request)).body as Record<
    string,
    string
  >
  const { merchant_key } = shop[mode]
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

const payBy = (url: string, payment_method: string, input: Record<string, string> = {}, number = '1') =>
  submit(`${url}/pay`, {
    number,
    payment_method,
    ...Object.fromEntries(Object.entries(input).map(([name, text]) => [`${payment_method}.${name}`, text])),
  })

const stageOf = (url: string) => async () => (await send(`${url}/state`)).body.stage as string
const until = (url: string, stage: string) => expect.poll(stageOf(url)).toBe(stage)
const chargeOf = (phone: string) => paystack.book().find(charge => charge.phone === phone)
const keyOf = (phone: string) => ({ idempotency_key: chargeOf(phone)?.reference ?? '' })

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
  await expect.poll(async () => (await send(url)).text).toContain('asks again')
  expect((await send(url)).text).not.toContain('registration token') // not the provider's words
  await expect.poll(async () => (await type(1, '123456')).http, { timeout: 15_000 }).toBe(303) // after a wait of 5 s
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

async function paidBy(phone: string) {
  const checkout = await newCheckout()
  await payBy(checkout.url, 'mtn_mobile_money', { phone })
  await until(checkout.url, 'wait')
  paystack.approve(keyOf(phone))
  await expect.poll(checkout.status).toBe('paid')
  return { ...checkout, ...keyOf(phone) }
}

const paymentOf = async (tx_reference: string) =>
  gateway.db.one<{ reversed_amount: bigint | null; charged: bigint | null }>(
    sql`select reversed_amount, charged from payments where tx_reference = ${tx_reference}`,
  )
const reversedOf = async (tx_reference: string) =>
  Number((await paymentOf(tx_reference))?.reversed_amount ?? 0)
const noticesOf = async (tx_reference: string) =>
  (
    await gateway.db.rows<{ type: string }>(
      sql`select type from notifications where tx_reference = ${tx_reference} and type <> 'status'
          order by created_at`,
    )
  ).map(({ type }) => type)

test('refunds after paid: a part, the same once more, the rest; each is recorded once', async () => {
  const { idempotency_key: key, tx_reference, status } = await paidBy('0244100007')
  const { id } = await paystack.refund({ idempotency_key: key, amount: 1000 })
  await expect.poll(() => reversedOf(tx_reference)).toBe(1000)
  await paystack.refund({ idempotency_key: key, id, status: 'processed' }) // Paystack repeats its webhook
  await paystack.refund({ idempotency_key: key })
  await expect.poll(() => reversedOf(tx_reference)).toBe(2500)
  expect(await noticesOf(tx_reference)).toEqual(['reversed', 'reversed'])
  expect(await tasksOf(tx_reference)).toEqual(['reversed'])
  expect(await status()).toBe('paid')
})

test('refunded before we ever heard that it was paid: never paid', async () => {
  const { url, tx_reference, status } = await newCheckout()
  paystack.rule({ number: '0244100011', story: { hooks: [] } })
  await payBy(url, 'mtn_mobile_money', { phone: '0244100011' })
  await until(url, 'wait')
  const { idempotency_key: key } = keyOf('0244100011')
  paystack.approve({ idempotency_key: key })
  await paystack.refund({ idempotency_key: key })
  await expect.poll(() => tasksOf(tx_reference)).toEqual(['reversed'])
  expect(await status()).toBe('failed')
})

for (const won of [true, false])
  test(`a dispute opens, and is ${won ? 'won' : 'lost'}: money moves only when it is lost`, async () => {
    const phone = `02441000${won ? 12 : 13}`
    const { idempotency_key: key, tx_reference, status } = await paidBy(phone)
    await paystack.dispute({ idempotency_key: key })
    await expect.poll(() => noticesOf(tx_reference)).toEqual(['dispute_opened'])
    expect(await reversedOf(tx_reference)).toBe(0)
    await paystack.resolve({ idempotency_key: key, won })
    await expect.poll(() => noticesOf(tx_reference)).toContain(won ? 'dispute_won' : 'dispute_lost')
    expect(await reversedOf(tx_reference)).toBe(won ? 0 : 2500)
    expect(await status()).toBe('paid')
  })

test('the list of refunds is not answered at first: asked again', async () => {
  const { idempotency_key: key, tx_reference } = await paidBy('0244100014')
  paystack.weather = { trouble: 'error', at: '/refund', times: 1 }
  await paystack.refund({ idempotency_key: key })
  await expect.poll(() => paystack.weather).toBeUndefined()
  await gateway.db.rows(sql`update attempts set next_poll_at = now() where tx_reference = ${tx_reference}`)
  await expect.poll(() => reversedOf(tx_reference), { timeout: 20_000 }).toBe(2500)
})

test('the customer bears the fee: paid, and charged with it', async () => {
  const { url, tx_reference, status } = await newCheckout()
  await payBy(url, 'mtn_mobile_money', { phone: '0240000014' })
  await expect.poll(status).toBe('paid')
  expect(Number((await paymentOf(tx_reference))?.charged)).toBe(2549)
  expect(await tasksOf(tx_reference)).toEqual([])
})

test('a declined card on the page, then a good one: paid by one attempt', async () => {
  const { url, tx_reference, status } = await newCheckout()
  await payBy(url, 'card')
  await until(url, 'wait')
  const page = await cardPageOf(url)
  await submit(page, { decision: 'decline' })
  const attempts = () =>
    gateway.db.rows<{ state: string; declined_at: Date | null }>(
      sql`select state, declined_at from attempts where tx_reference = ${tx_reference}`,
    )
  await gateway.db.rows(sql`update attempts set next_poll_at = now() where tx_reference = ${tx_reference}`)
  await expect.poll(async () => (await attempts())[0]?.declined_at).toBeInstanceOf(Date)
  expect(await status()).toBe('awaiting_payment')
  const back = (await submit(page, { decision: 'pay' })).headers.get('location') ?? ''
  await send(back)
  await expect.poll(status).toBe('paid')
  expect(await attempts()).toMatchObject([{ state: 'paid' }])
})

const cardPageOf = async (url: string) => /href="([^"]*\/pay\/[^"]*)"/.exec((await send(url)).text)?.[1] ?? ''

test('an overpayment that is refunded: its task is closed, and the payment has no mark', async () => {
  const { url, tx_reference, status } = await newCheckout()
  await payBy(url, 'card')
  await until(url, 'wait')
  const page = await cardPageOf(url)
  await submit(page, { decision: 'decline' })
  const back = (await submit(page, { decision: 'leave' })).headers.get('location') ?? ''
  await send(back)
  await until(url, 'failed')
  await payBy(url, 'mtn_mobile_money', { phone: '0244100016' }, '2')
  await until(url, 'wait')
  paystack.approve(keyOf('0244100016'))
  await expect.poll(status).toBe('paid')
  await submit(page, { decision: 'pay' }) // on the page that was left open
  await expect.poll(() => tasksOf(tx_reference)).toEqual(['refund'])
  const card = paystack.book().find(({ access_code = 'none' }) => page.endsWith(access_code))
  await paystack.refund({ idempotency_key: card?.reference ?? '' })
  const open = () =>
    gateway.db.rows(sql`select 1 from tasks where tx_reference = ${tx_reference} and closed_at is null`)
  await expect.poll(open).toEqual([])
  expect(await reversedOf(tx_reference)).toBe(0)
  expect(await status()).toBe('paid')
})

test('a stored live account: paid by the webhook of its own business', async () => {
  const liveKey = 'sk_live_0f1e2d3c4b5a6978'
  const desk = { providers: await loadProviders(), tools: exampleTools, masterKeys: gateway.masterKeys }
  const identity = newIdentity({ provider: 'paystack', mode: 'live', merchant_id: null })
  const prepared = prepareAccount(desk, identity, {}, [
    ['secret_key', liveKey],
    ['url', paystack.url],
  ])
  if (prepared.faults) throw new Error(prepared.faults.join('; '))
  await addAccount(gateway.db, identity, prepared, null, new Date())
  const address = `${gateway.url}/callbacks/account/${webhookIdOf(identity.account)}`
  paystack.business({ secret_key: liveKey, webhook_url: address })
  const { url, status } = await newCheckout({ email }, 'live')
  await expect.poll(async () => (await send(url)).text).toContain('mtn_mobile_money')
  await payBy(url, 'mtn_mobile_money', { phone: '0244100017' })
  await until(url, 'wait')
  paystack.approve(keyOf('0244100017'))
  await expect.poll(status).toBe('paid')
})

test('a key that is refused while a payment starts: nothing was sent', async () => {
  const { url, tx_reference } = await newCheckout()
  paystack.refuseKey({ http: 401 })
  await payBy(url, 'mtn_mobile_money', { phone: '0244100015' })
  const attempt = async () =>
    gateway.db.one<{ provider_code: string | null; acknowledged_at: Date | null }>(
      sql`select provider_code, acknowledged_at from attempts where tx_reference = ${tx_reference}`,
    )
  await expect.poll(async () => (await attempt())?.provider_code).toBe('invalid_Key')
  expect((await attempt())?.acknowledged_at).toBeNull()
  paystack.refuseKey({})
  expect(chargeOf('0244100015')).toBeUndefined()
})

// The last: all that was logged above.
test('no secret key, no number and no address of a customer is logged', () => {
  const all = gateway.logs.join('\n')
  for (const secret of [secretKey, '244100', '204100', email, '123456']) expect(all).not.toContain(secret)
})
