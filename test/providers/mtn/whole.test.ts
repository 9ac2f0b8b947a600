import assert from 'node:assert/strict'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { mtnCredentials, openMtn, type MtnSimulator } from '../../simulators/mtn/mtn.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../../support/merchant/merchant.ts'

vi.setConfig({ testTimeout: 120_000 }) // its polls wait for up to 30 s each

// A whole gateway, set up by its environment as an operator does it, and the played MTN.
let played: MtnSimulator
let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  played = await openMtn({ callbackHost: 'pay.example.test' })
  gateway = await testGateway({
    TOLLGATE_BASE_URL: 'https://pay.example.test',
    MTN_SUBSCRIPTION_KEY: mtnCredentials.subscriptionKey,
    MTN_API_USER: mtnCredentials.apiUser,
    MTN_API_KEY: mtnCredentials.apiKey,
    MTN_ENVIRONMENT: 'mtnghana',
    MTN_URL: played.url,
    MTN_CALLBACKS: 'on',
    MTN_CHECK_HOLDER: 'on',
  })
  played.deliverTo(gateway.url) // as a TLS proxy in front of it does
  shop = await gateway.addMerchant()
})
afterAll(async () => {
  await gateway.stop()
  await played.stop()
})

let people = 0

async function startPayment(story: object = {}, mode: 'live' | 'test' = 'live') {
  const number = `024${7_000_000 + ++people}`
  played.rule({ number: `233${number.slice(1)}`, story })
  const request = signedRequest(shop[mode], {
    generate_checkout_url: undefined,
    pymt_instrument: number,
    extra_wallet_issuer_hint: 'mtn',
  })
  const { tx_reference } = (await post(gateway.url, request)).body
  const attempt = async () => {
    const [only] = await attemptsOf(gateway.db, shop.merchant_id, tx_reference)
    assert.ok(only)
    return only
  }
  const { merchant_key } = shop[mode]
  const status = async () =>
    (await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).body
  const { idempotency_key, provider_account: provider } = await attempt()
  return { key: idempotency_key ?? '', account: provider, attempt, status, number }
}

const statusOf = ({ status }: Awaited<ReturnType<typeof startPayment>>) =>
  expect.poll(async () => (await status()).status, { timeout: 30_000 })

test('approved on the phone, told by a callback, and paid; its key is a UUID of ours', async () => {
  const payment = await startPayment()
  expect(payment.account).toBe('mtn')
  await expect.poll(() => played.charges(payment.key), { timeout: 30_000 }).toBe(1)
  await played.approve(payment.key)
  await statusOf(payment).toBe('paid')
  expect(await payment.status()).toMatchObject({ amount: 25, currency: 'GHS', tran_type: 'live' })
})

test('an error after the money was taken, reads that lag, a callback before the answer: paid, once', async () => {
  const payment = await startPayment({
    submit: { status: 500, body: { code: 'INTERNAL_PROCESSING_ERROR' } },
    hiddenReads: 2,
    ends: { status: 'SUCCESSFUL' },
    callbacks: [{ at: 'submit' }, { at: 'end', times: 3 }],
  })
  await statusOf(payment).toBe('paid')
  expect(played.charges(payment.key)).toBe(1)
})

test('a forged callback, and one about another amount, pay nothing', async () => {
  const payment = await startPayment({ told: { amount: '26.00' } })
  await expect.poll(() => played.charges(payment.key), { timeout: 30_000 }).toBe(1)
  await played.callBack({ key: payment.key, body: { status: 'SUCCESSFUL', amount: '25.00' }, times: 3 })
  await played.approve(payment.key)
  await expect.poll(async () => (await payment.attempt()).state, { timeout: 30_000 }).toBe('disputed')
  expect((await payment.status()).status).toBe('awaiting_payment')
})

test('declined is failed, in words for the merchant', async () => {
  const payment = await startPayment({ ends: { status: 'FAILED', reason: 'NOT_ENOUGH_FUNDS' } })
  await statusOf(payment).toBe('failed')
  expect((await payment.status()).status_reason).toBe('Not enough money in the account.')
})

test('a test payment does not come here', async () => {
  const { account } = await startPayment({}, 'test')
  expect(account).toBe('sandbox')
})

test('no secret, no token and no whole number stands in the log', () => {
  const log = gateway.logs.join('')
  expect(log).not.toContain(mtnCredentials.subscriptionKey)
  expect(log).not.toContain(mtnCredentials.apiKey)
  for (let person = 1; person <= people; person++) expect(log).not.toContain(`24${7_000_000 + person}`)
  for (const { headers } of played.asked)
    expect(log).not.toContain(String(headers.authorization).split(' ')[1])
})
