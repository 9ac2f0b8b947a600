import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  memoryStore,
  type NotificationRules,
  type Order,
  type Payment,
  type Tollgate,
  type TollgateError,
} from '../../sdk/node/src/index.ts'
import { notificationListener } from '../../sdk/node/src/node.ts'
import { signedNotification } from '../../sdk/node/src/testing.ts'
import { redeliver } from '../../src/actions/notifications/redeliver.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { anOrder, payOnPage, sdkClient } from '../support/merchant/sdkClient.ts'

// Notifications that a real gateway sends to a shop that uses the SDK.
let gateway: TestGateway
let shop: TestMerchant
let tollgate: Tollgate
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
  shop = await gateway.addMerchant()
  tollgate = sdkClient(gateway, shop)
})
afterAll(() => gateway.stop())

// A shop's server, with what happened to it.
async function openShop(changed: Partial<NotificationRules> = {}) {
  const orders = new Map<string, Order>()
  const calls: [status: string, invoiceId: string][] = []
  const errors: TollgateError[] = []
  const answers: number[] = []
  const listener = notificationListener(tollgate, {
    store: memoryStore(),
    findOrder: invoiceId => orders.get(invoiceId),
    onStatus: ({ status, order }) => void calls.push([status, order.invoiceId ?? '']),
    onError: error => void errors.push(error),
    ...changed,
  })
  const server = createServer((request, response) => {
    response.on('finish', () => void answers.push(response.statusCode))
    void listener(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipn`
  async function sell(order = anOrder()) {
    orders.set(order.invoiceId, order)
    return { order, ...(await tollgate.initiate({ ...order, ipnUrl: url })) }
  }
  return { url, orders, calls, errors, answers, sell }
}

const redeliverTo = ({ merchant_id }: TestMerchant, tx_reference: string, sequence = 1) =>
  redeliver(gateway.db, { merchant_id, tx_reference, sequence }, new Date())

test('a paid order is delivered once, and a redelivery is a duplicate', async () => {
  const { sell, calls, answers, errors } = await openShop()
  const { order, checkoutUrl, reference } = await sell()
  await payOnPage(checkoutUrl, '0240000000')
  await expect.poll(() => answers).toEqual([200])
  await redeliverTo(shop, reference)
  await expect.poll(() => answers).toEqual([200, 200])
  expect([calls, errors]).toEqual([[['paid', order.invoiceId]], []])
})

test('failed, then paid: each status once', async () => {
  const { sell, calls, errors } = await openShop()
  const { order, checkoutUrl } = await sell()
  await payOnPage(checkoutUrl, '0240000002')
  await expect.poll(() => calls.map(([status]) => status)).toContain('failed')
  await payOnPage(checkoutUrl, '0240000000', 2)
  await expect.poll(async () => (await tollgate.status(order)).status).toBe('paid')
  await expect.poll(() => calls.map(([status]) => status)).toContain('paid')
  expect(new Set(calls.map(([status]) => status)).size).toBe(calls.length)
  expect(errors).toEqual([])
})

test('onStatus fails: the gateway delivers again, and it is called again', async () => {
  let fails = true
  const seen: Payment[] = []
  const { sell, answers, errors } = await openShop({
    onStatus: async ({ payment }) => {
      seen.push(payment)
      if (fails) throw new Error('out of stock')
    },
  })
  const { checkoutUrl, reference } = await sell()
  await payOnPage(checkoutUrl, '0240000000')
  await expect.poll(() => answers).toEqual([500])
  expect(errors).toMatchObject([{ code: 'handler_failed', cause: new Error('out of stock') }])
  fails = false
  await redeliverTo(shop, reference) // the schedule would, after 10 seconds
  await expect.poll(() => answers).toEqual([500, 200])
  expect(seen.map(({ status, chargedMinor }) => [status, chargedMinor])).toEqual([
    ['paid', 2500],
    ['paid', 2500],
  ])
})

test('an order with another amount is not delivered', async () => {
  const { sell, orders, calls, answers, errors } = await openShop()
  const { order, checkoutUrl } = await sell()
  orders.set(order.invoiceId, { ...order, total: '2500.00' })
  await payOnPage(checkoutUrl, '0240000000')
  await expect.poll(() => answers).toEqual([500])
  expect([calls, errors]).toMatchObject([[], [{ code: 'amount_mismatch', field: 'amount' }]])
})

test('a forged notification, and a genuine one of another merchant, change nothing', async () => {
  const { sell, url, calls, answers } = await openShop()
  const { order, reference } = await sell()
  const other = await gateway.addMerchant()
  for (const [secret, answer] of [
    [other.test.ipn_secret, 401],
    [shop.live.ipn_secret, 401],
    [shop.test.ipn_secret, 200], // even a right signature does not make it paid
  ] as const) {
    const { rawBody, headers } = await signedNotification({ ...order, reference }, { ipnSecret: secret })
    expect((await fetch(url, { method: 'POST', body: rawBody, headers })).status).toBe(answer)
  }
  expect([calls, answers]).toEqual([[['awaiting_payment', order.invoiceId]], [401, 401, 200]])
})
