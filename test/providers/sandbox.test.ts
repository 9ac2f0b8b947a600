import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import sandbox from '../../src/providers/sandbox.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { RefundOrder } from '../../src/core/provider/refundOrder.ts'
import type { PaymentMethod } from '../../src/core/provider/paymentMethod.ts'
import { type GuardedAccount, guardAccount } from '../../src/runtime/providers/guard.ts'
import { key, openTestSandbox, postForm, type TestSandbox } from '../sandbox/context.ts'
import { noTools } from '../support/payments/simulatedNode.ts'
import { conformance } from './conformance.ts'
import { openLine } from './client.ts'
import { type Bench, newOrder } from './stories/stage.ts'

const visa = { number: '4111 1111 1111 1111', expiry: '09/40', cvv: '123' }

async function openBench(): Promise<Bench> {
  const house = await openTestSandbox(100) // so that no refund ends by itself
  const onPhone = (order: Order, decision: string) =>
    postForm(house, `/sandbox/phone/${order.attempt_id}`, { decision })
  const endAs = (refund: RefundOrder, ending: string) =>
    house.sql(`update sandbox_refunds set ending = '${ending}', created_at = created_at - interval '1 day'
      where reference = '${refund.idempotency_key}'`)
  return {
    newLine: () => openLine(house.url),
    settings: url => ({ url, key }),
    given: givenFor,
    approve: order =>
      order.payment_method === 'card'
        ? postForm(house, `/sandbox/card/${order.attempt_id}`, visa)
        : onPhone(order, 'approve'),
    decline: order =>
      order.payment_method === 'card'
        ? postForm(house, `/sandbox/card/${order.attempt_id}/cancel`)
        : onPhone(order, 'decline'),
    charges: async order =>
      (await house.sql(`select from sandbox_charges where reference = '${order.idempotency_key}'`)).length,
    unknownCode: text => change(text, { status: 'SUCCESSFULLY_FAILED' }),
    otherAmount: (text, amount) => change(text, { amount }),
    otherOrder: text => change(text, { externalId: 'm0m0m0m0m0another' }),
    refunds: {
      finish: async refund => endAs(refund, 'succeeds'),
      fail: async refund => endAs(refund, 'fails'),
      count: async refund =>
        (await house.sql(`select from sandbox_refunds where reference = '${refund.idempotency_key}'`)).length,
      otherRefund: text => change(text, { externalId: 'm0m0m0m0m0another' }),
    },
    stop: house.stop,
  }
}

const change = (text: string, changes: object) => JSON.stringify({ ...JSON.parse(text), ...changes })

const givenFor = (method: PaymentMethod, phone = '+233241234567') =>
  Object.fromEntries(method.fields.map(({ name, kind }) => [name, kind === 'phone' ? phone : '123456']))

conformance('sandbox', sandbox, { url: 'http://127.0.0.1:1', key: 'key' }, openBench)

describe('what only this provider does', () => {
  let house: TestSandbox
  let provider: GuardedAccount & Pick<ProviderAccount, 'methods'>
  beforeAll(async () => {
    house = await openTestSandbox()
    provider = connect(key)
  })
  afterAll(() => house.stop())

  function connect(word: string, url = house.url) {
    const made = sandbox.open({ url, key: word }, noTools)
    return { ...guardAccount(made), methods: made.methods }
  }
  const wayOf = (payment_method: string) => {
    const method = provider.methods.find(one => one.payment_method === payment_method)
    assert.ok(method)
    return method
  }
  const orderFor = (payment_method: string, phone?: string, changes: Partial<Order> = {}) =>
    newOrder(wayOf(payment_method), givenFor(wayOf(payment_method), phone), changes)

  async function ended(order: Order) {
    for (const deadline = performance.now() + 5000; performance.now() < deadline; await sleep(10)) {
      const reply = await provider.check(order)
      if (reply.state === 'paid' || reply.state === 'failed') return reply
    }
    throw new Error('it never ended')
  }

  test('a wrong key is unknown', async () => {
    expect(await connect('wrong').start(orderFor('card'))).toEqual({ state: 'unknown', words: 'HTTP 401' })
    expect(await connect('wrong').check(orderFor('card'))).toEqual({ state: 'unknown', words: 'HTTP 401' })
  })

  test('an order that the provider refuses outright has failed', async () => {
    const order = orderFor('mtn_mobile_money', undefined, { currency: 'USD' })
    expect(await provider.start(order)).toEqual({ state: 'failed', reason: 'refused' })
    expect(await provider.check(order)).toEqual({ state: 'absent' })
  })

  test('a 400 of a proxy is not a refusal of the provider', async () => {
    const line = await openLine(house.url)
    line.rewrite = () => '{"code":"BAD_GATEWAY"}'
    const reply = await connect(key, line.url).start(orderFor('card', undefined, { merchant_name: '' }))
    expect(reply).toEqual({ state: 'unknown', words: 'HTTP 400' })
    await line.stop()
  })

  test('an empty description is none', async () => {
    const reply = await provider.start(orderFor('mtn_mobile_money', undefined, { description: '' }))
    expect(reply).toEqual({ state: 'pending' })
  })

  test('a redirect to another host is not followed', async () => {
    const line = await openLine(house.url)
    line.rewrite = text => text.replaceAll('/sandbox/card/', '//evil.test/sandbox/card/')
    const reply = await connect(key, line.url).start(orderFor('card'))
    expect(reply).toEqual({ state: 'unknown', words: 'no address of the payment page', acknowledged: true })
    await line.stop()
  })

  test('the error of an order that was not sent has no secret and no wallet number', async () => {
    const order = orderFor('telecel_cash', '+233201234567')
    const line = await openLine(house.url)
    await line.stop()
    const reply = await connect(key, line.url).start(order)
    assert.equal(reply.state, 'not_sent')
    expect(reply.words).toContain('ECONNREFUSED')
    expect(reply.words).not.toContain(key)
    expect(reply.words).not.toContain('1234567')
  })

  for (const [phone, reason] of [
    ['+233240000002', 'insufficient_funds'],
    ['+233240000003', 'declined'],
    ['+233240000004', 'no_answer'],
    ['+233240000007', 'refused'],
  ] as const) {
    test(`${phone}: ${reason}`, async () => {
      const order = orderFor('mtn_mobile_money', phone)
      expect(await provider.start(order)).toEqual({ state: 'pending' })
      expect(await ended(order)).toEqual({ state: 'failed', reason })
    })
  }

  for (const [amount, start, end] of [
    [2n, 'unknown', { state: 'failed', reason: 'network_error' }],
    [3n, 'pending', { state: 'failed', reason: 'insufficient_funds' }],
    [4n, 'pending', { state: 'failed', reason: 'declined' }],
    [5n, 'pending', { state: 'paid', amount: 5n }],
  ] as const) {
    test(`total ${amount}: ${start}, then ${end.state}`, async () => {
      const order = orderFor('ghqr', undefined, { amount })
      expect((await provider.start(order)).state).toBe(start)
      expect(await ended(order)).toMatchObject(end)
    })
  }

  test('a voucher that is not accepted', async () => {
    const order = orderFor('telecel_cash', '+233200000000')
    const wrong = { ...order, given: { ...order.given, voucher_code: '000000' } }
    await provider.start(wrong)
    expect(await ended(wrong)).toEqual({ state: 'failed', reason: 'wrong_voucher' })
  })

  test('005: unknown, then paid; 009: paid with another amount', async () => {
    const unclear = orderFor('airteltigo_money', '+233260000005')
    expect(await provider.start(unclear)).toEqual({ state: 'unknown', words: 'HTTP 500' })
    expect(await ended(unclear)).toMatchObject({ state: 'paid', amount: 2500n })
    const other = orderFor('mtn_mobile_money', '+233240000009')
    await provider.start(other)
    expect(await ended(other)).toMatchObject({ state: 'paid', amount: 2600n })
  })

  for (const [number, reason, psp_response_code] of [
    ['4000000000000002', 'card_declined', '05'],
    ['5105105105105100', 'insufficient_funds', '51'],
    ['4000000000000069', 'card_expired', '54'],
    ['4000000000000127', 'wrong_cvv', '82'],
  ] as const) {
    test(`card ${number}: ${reason}`, async () => {
      const order = orderFor('card')
      await provider.start(order)
      await postForm(house, `/sandbox/card/${order.attempt_id}`, { ...visa, number })
      expect(await provider.check(order)).toMatchObject({ state: 'failed', reason, psp_response_code })
    })
  }

  test('a card that does not pass 3-D Secure', async () => {
    const order = orderFor('card')
    await provider.start(order)
    await postForm(house, `/sandbox/card/${order.attempt_id}`, { ...visa, number: '4242424242424242' })
    await postForm(house, `/sandbox/card/${order.attempt_id}/3ds`, { code: '000000' })
    expect(await provider.check(order)).toMatchObject({ state: 'failed', reason: 'not_authenticated' })
  })

  test('a currency without decimals is charged without decimals', async () => {
    const order = orderFor('card', undefined, { currency: 'UGX', amount: 1_250_000n })
    await provider.start(order)
    await postForm(house, `/sandbox/card/${order.attempt_id}`, visa)
    expect(await provider.check(order)).toMatchObject({ state: 'paid', amount: 1_250_000n, currency: 'UGX' })
  })

  test('a payment in an unknown currency is reported as paid', async () => {
    const order = orderFor('card', undefined, { currency: 'UGX', amount: 5000n })
    const line = await openLine(house.url)
    const unclear = connect(key, line.url)
    await unclear.start(order)
    await postForm(house, `/sandbox/card/${order.attempt_id}`, visa)
    line.rewrite = text => text.replaceAll('"UGX"', '"XAU"')
    expect(await unclear.check(order)).toMatchObject({ state: 'paid', amount: 5000n, currency: 'XAU' })
    await line.stop()
  })

  test('a card payment returns the facts of the card', async () => {
    const order = orderFor('card', undefined, { currency: 'EUR' })
    expect(await provider.start(order)).toEqual({
      state: 'pending',
      redirect_url: `https://pay.example.test/sandbox/card/${order.attempt_id}`,
    })
    await postForm(house, `/sandbox/card/${order.attempt_id}`, visa)
    expect(await provider.check(order)).toEqual({
      state: 'paid',
      order: order.attempt_id,
      amount: 2500n,
      currency: 'EUR',
      provider_ref: expect.stringMatching(/^\d+$/),
      card_type: 'Visa',
      psp_response_code: '00',
      psp_response_msg: 'Approved',
      instrument: 'Visa •••• 1111',
    })
  })

  test('the callback uses the local address, the customer’s return the public one', async () => {
    const order = orderFor('ghqr', undefined, { callback_url: 'https://pay.example.test/callback?a=1' })
    const qr = `https://pay.example.test/sandbox/phone/${order.attempt_id}`
    expect(await provider.start(order)).toEqual({ state: 'pending', qr })
    await postForm(house, `/sandbox/phone/${order.attempt_id}`, { decision: 'approve' })
    expect(await house.callbacksFor(order.attempt_id, 1)).toEqual(['SUCCESSFUL'])
  })
})
