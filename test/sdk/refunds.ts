import { afterAll, beforeAll, expect, test } from 'vitest'
import { newInvoice } from '../support/merchant/merchant.ts'
import { newRefundId, paidInvoice, refundWhen } from '../support/merchant/refunds.ts'
import { type Sdk, type Shop, startShop } from './programs.ts'
import { client, clientOf, errorOf, gateway, merchant, resultOf, run } from './world.ts'

// Refunds by every SDK, against the gateway.
export function testRefunds(sdk: Sdk) {
  test('a payment is refunded once, however often', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, merchant.test)
    const order = { refund_id: newRefundId(), invoice_id, amount: '10.00', reason: 'Åsa returned it' }
    const first = await resultOf('refund', order)
    expect(first).toMatchObject({ refund_id: order.refund_id, amount: '10.00', currency: 'GHS' })
    const { amount: _, ...rest } = order
    const again = await resultOf('refund', { ...rest, amount_minor: 1000 })
    expect(again.refund_reference).toBe(first.refund_reference)
    await refundWhen(gateway.url, merchant.test, order.refund_id)
    const checked = await resultOf('refund_status', order.refund_id)
    expect(checked).toMatchObject({ state: 'succeeded', amount: '10.00', reason: order.reason })
    const { refunded_amount, refunds } = await resultOf('status', invoice_id)
    expect(refunded_amount).toBe('10.00')
    expect(refunds).toMatchObject([{ refund_id: order.refund_id, amount: '10.00', state: 'succeeded' }])
    expect(
      (await resultOf('status', (await paidInvoice(gateway.url, merchant.test)).invoice_id)).refunds,
    ).toEqual([])
  })

  test('a refusal says what is left', async () => {
    const { invoice_id } = await paidInvoice(gateway.url, merchant.test)
    const error = await errorOf('refund', { refund_id: newRefundId(), invoice_id, amount: '25.01' })
    expect(error).toMatchObject({ class: 'RefusedError', code: 'GW-020', field: 'amount', left: '25.00' })
    expect(await errorOf('refund_status', newRefundId())).toMatchObject({ code: 'GW-028', http_status: 404 })
  })

  for (const [name, order, field] of [
    ['a float', { amount: 10.5 }, 'amount'],
    ['an integer, whose unit is not clear', { amount: 10 }, 'amount'],
    ['no amount', {}, 'amount'],
    ['two amounts', { amount: '10.00', amount_minor: 1000 }, 'amount_minor'],
    ['no refund_id', { amount: '10.00', refund_id: null }, 'refund_id'],
    ['a refund_id that is no part of an address', { amount: '10.00', refund_id: '../x' }, 'refund_id'],
    ['no invoice_id', { amount: '10.00', invoice_id: '' }, 'invoice_id'],
  ] as const)
    test(`${name} is refused before anything is sent`, async () => {
      const error = await errorOf('refund', { refund_id: 'R-1', invoice_id: newInvoice(), ...order })
      expect(error).toMatchObject({ class: 'InvalidInputError', field })
    })

  test('without an answer the outcome is unknown, and calling again is safe', async () => {
    const nowhere = { ...client, base_url: 'http://127.0.0.1:9', tries: 2 }
    const { error } = await run('refund', nowhere, { refund_id: 'R-1', invoice_id: 'A', amount: '1.00' })
    expect(error).toMatchObject({ class: 'OutcomeUnknownError', code: 'outcome_unknown' })
    expect(error?.message).toMatch(/R-1 is unknown.*never refunds twice/)
  })

  test('a notification of a refund is not one of a status', async () => {
    const { body, headers } = await resultOf('signed_refund', { invoice_id: 'A-1' }, merchant.test.ipn_secret)
    expect(await errorOf('parse', body, headers)).toMatchObject({ code: 'notification_of_refund' })
    expect(await resultOf('parse_refund', body, headers)).toMatchObject({
      invoice_id: 'A-1',
      state: 'succeeded',
      refund_reference: 'refund-test-1',
      sequence: 1,
    })
    const status = await resultOf('signed', {}, merchant.test.ipn_secret)
    expect(await errorOf('parse_refund', status.body, status.headers)).toMatchObject({
      code: 'notification_malformed',
    })
  })

  testNotified(sdk)
}

// The gateway notifies the shop of each change of a refund.
function testNotified(sdk: Sdk) {
  let shop: Shop
  beforeAll(async () => {
    const notified = await gateway.addMerchant('ipn_refunds=on')
    shop = await startShop(sdk, { client: clientOf(notified), store: 'sql', lease_seconds: 2 })
    keys = notified.test
  })
  afterAll(() => shop.stop())
  let keys: typeof merchant.test

  test('a refund calls its own function once for each state, and never that of a status', async () => {
    const invoice_id = newInvoice()
    shop.addOrder(invoice_id, { total: '25.00', invoice_id })
    await paidInvoice(gateway.url, keys, { invoice_id, ipn_url: shop.url })
    await expect.poll(() => shop.calls(invoice_id), { timeout: 20_000 }).toEqual(['paid 25.00'])
    const refund_id = newRefundId()
    const order = { refund_id, invoice_id, amount: '10.00' }
    await run(
      'refund',
      { ...client, merchant_key: keys.merchant_key, merchant_secret: keys.secret_key },
      order,
    )
    await expect.poll(() => shop.calls(invoice_id).at(-1), { timeout: 20_000 }).toBe('refund.succeeded 10.00')
    const calls = shop.calls(invoice_id)
    expect(calls.filter(call => call.startsWith('paid'))).toHaveLength(1)
    expect(new Set(calls).size).toBe(calls.length)
  })
}
