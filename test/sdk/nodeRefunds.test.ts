import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createTollgate,
  InvalidInputError,
  memoryStore,
  type NotificationRules,
  OutcomeUnknownError,
  RefusedError,
  type TollgateError,
} from '../../sdk/node/src/index.ts'
import {
  fakeGateway,
  signedRefundNotification,
  type TestPayment,
  type TestRefund,
  testIpnSecret,
} from '../../sdk/node/src/testing.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { newRefundId, paidInvoice, refundWhen } from '../support/merchant/refunds.ts'
import { sdkClient } from '../support/merchant/sdkClient.ts'

describe('against a gateway', () => {
  let gateway: TestGateway
  let merchant: TestMerchant
  beforeAll(async () => {
    gateway = await testGateway({}, { sandboxPace: 0.05 })
    merchant = await gateway.addMerchant()
  })
  afterAll(() => gateway.stop())

  test('a payment is refunded, the status and the feed have it', async () => {
    const tollgate = sdkClient(gateway, merchant)
    const { invoice_id: invoiceId } = await paidInvoice(gateway.url, merchant.test)
    const refundId = newRefundId()
    const first = await tollgate.refund({ refundId, invoiceId, amount: '10.00', reason: 'Returned' })
    expect(first).toMatchObject({
      refundId,
      invoiceId,
      amount: '10.00',
      amountMinor: 1000,
      source: 'payment',
    })
    const again = await tollgate.refund({ refundId, invoiceId, amountMinor: 1000, reason: 'Returned' })
    expect(again.reference).toBe(first.reference)
    await refundWhen(gateway.url, merchant.test, refundId)
    const refund = await tollgate.refundStatus({ refundId })
    expect(refund).toMatchObject({ state: 'succeeded', succeededAt: expect.any(Date), stateReason: '' })
    const payment = await tollgate.status({ invoiceId })
    expect(payment).toMatchObject({ status: 'paid', refundedMinor: 1000, reversedMinor: null })
    expect(payment.refunds).toMatchObject([{ refundId, state: 'succeeded', amountMinor: 1000 }])
    const events = []
    for await (const event of tollgate.events()) events.push(event)
    expect(events[0]).toMatchObject({ type: 'status', refund: null })
    expect(events.at(-1)).toMatchObject({
      type: 'refund.succeeded',
      status: 'paid',
      invoiceId,
      amountMinor: 1000,
      refund: { refundId, state: 'succeeded', reference: first.reference },
    })
  })

  test('refusals have a code, and say what is left', async () => {
    const tollgate = sdkClient(gateway, merchant)
    const { invoice_id: invoiceId } = await paidInvoice(gateway.url, merchant.test)
    const refundId = newRefundId()
    const refused = await tollgate
      .refund({ refundId, invoiceId, amount: '25.01' })
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RefusedError)
    expect(refused).toMatchObject({ code: 'GW-020', httpStatus: 409, left: 25 })
    await tollgate.refund({ refundId, invoiceId, amount: '1.00' })
    await expect(tollgate.refund({ refundId, invoiceId, amount: '2.00' })).rejects.toMatchObject({
      code: 'GW-027',
    })
    await expect(tollgate.refundStatus({ refundId: newRefundId() })).rejects.toMatchObject({ code: 'GW-028' })
  })
})

const options = {
  baseUrl: 'http://127.0.0.1:9',
  merchantKey: 'tk_demo',
  merchantSecret: 'secret',
  ipnSecret: testIpnSecret,
  tries: 1,
}

test('without an answer the outcome is unknown', async () => {
  const refund = createTollgate(options).refund({ refundId: 'R-1', invoiceId: 'A-1', amount: '1.00' })
  await expect(refund).rejects.toThrow(OutcomeUnknownError)
  await expect(refund).rejects.toThrow(/refund R-1 is unknown.*never refunds twice/)
})

for (const order of [
  { refundId: 'R 1', invoiceId: 'A', amount: '1.00' },
  { refundId: '..', invoiceId: 'A', amount: '1.00' },
  { refundId: 'R-1', invoiceId: '', amount: '1.00' },
  { refundId: 'R-1', invoiceId: 'A', amount: 10 as unknown as string },
  { refundId: 'R-1', invoiceId: 'A', amountMinor: 1.5 },
])
  test(`${JSON.stringify(order)} is refused before anything is sent`, async () => {
    await expect(createTollgate(options).refund(order)).rejects.toThrow(InvalidInputError)
  })

describe('a notification of a refund', () => {
  const refund: TestRefund = { refundId: 'R-1', total: '10.00', state: 'pending' }
  const payment: TestPayment = { invoiceId: 'AMA-1042', total: '25.00', refunds: [refund] }

  function shopWith(changed: Partial<NotificationRules> = {}, stored = payment) {
    const tollgate = createTollgate({ ...options, fetch: fakeGateway([stored]) })
    const [calls, statuses, errors]: [string[], string[], TollgateError[]] = [[], [], []]
    const rules: NotificationRules = {
      store: memoryStore(),
      findOrder: invoiceId => (invoiceId === 'AMA-1042' ? { total: '25.00' } : null),
      onStatus: ({ status }) => void statuses.push(status),
      onRefund: one => void calls.push(`${one.refund.state} ${one.refund.amount} ${one.payment.status}`),
      onError: error => void errors.push(error),
      ...changed,
    }
    const receive = async (sent: TestRefund = refund) => {
      const { request } = await signedRefundNotification(stored, sent, { ipnSecret: testIpnSecret })
      const response = await tollgate.handleNotification({ request: request(), ...rules })
      return [response.status, ((await response.json()) as { outcome: string }).outcome]
    }
    return { tollgate, receive, calls, statuses, errors }
  }

  test('calls onRefund once for each state, and never onStatus', async () => {
    const { receive, calls, statuses } = shopWith()
    expect(await receive()).toEqual([200, 'handled'])
    expect(await receive()).toEqual([200, 'duplicate'])
    expect([calls, statuses]).toEqual([['pending 10.00 paid'], []])
  })

  test('has the state that the gateway has now', async () => {
    const { receive, calls } = shopWith()
    await receive({ ...refund, state: 'failed' })
    expect(calls).toEqual(['pending 10.00 paid'])
  })

  test('is acknowledged without onRefund', async () => {
    const { receive, statuses, errors } = shopWith({ onRefund: undefined })
    expect(await receive()).toEqual([200, 'ignored'])
    expect([statuses, errors]).toEqual([[], []])
  })

  test('of a refund that the gateway does not have, or of an unknown order, calls nothing', async () => {
    const none = shopWith({}, { ...payment, refunds: [] })
    expect((await none.receive())[0]).toBe(500)
    expect(none.errors[0]).toMatchObject({ code: 'reference_mismatch' })
    const unknown = shopWith({ findOrder: () => null })
    expect((await unknown.receive())[0]).toBe(503)
    expect([...none.calls, ...unknown.calls]).toEqual([])
  })

  test('cannot be parsed as that of a status', async () => {
    const { tollgate } = shopWith()
    const { rawBody, headers } = await signedRefundNotification(payment, refund, { ipnSecret: testIpnSecret })
    await expect(tollgate.parseNotification(rawBody, headers)).rejects.toMatchObject({
      code: 'notification_of_refund',
    })
    const parsed = await tollgate.parseRefundNotification(rawBody, headers)
    expect(parsed).toMatchObject({ invoiceId: 'AMA-1042', refund: { refundId: 'R-1', state: 'pending' } })
  })
})
