import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Order,
  OutcomeUnknownError,
  RefusedError,
  type Retry,
  type Tollgate,
  type TollgateOptions,
} from '../../sdk/node/src/index.ts'
import { fakeGateway } from '../../sdk/node/src/testing.ts'
import { sql } from '../../src/store/db.ts'
import { openCuttingProxy } from '../support/gateway/cuttingProxy.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { anOrder, sdkClient } from '../support/merchant/sdkClient.ts'

let gateway: TestGateway
let shop: TestMerchant
let tollgate: Tollgate
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  tollgate = sdkClient(gateway, shop)
})
afterAll(() => gateway.stop())

const clientOf = (changed: Partial<TollgateOptions>) => sdkClient(gateway, shop, changed)

const fullOrder = () =>
  anOrder({
    currency: 'GHS',
    description: 'Two straw hats\nand a ✓',
    customer: { name: 'Ama Mensah', phone: '0241234567', email: 'ama@shop.example' },
    successUrl: 'https://shop.example/thanks',
    cancelledUrl: 'https://shop.example/cart',
    lineItems: [
      { name: 'Hat', quantity: 2, totalMinor: 2400 },
      { name: 'Delivery', total: '1' },
    ],
    extra: { table: '7' },
  })

describe('initiate and status', () => {
  test('a payment is stored with everything, and its record is read whole', async () => {
    const order = fullOrder()
    const { checkoutUrl, reference, token, requestId } = await tollgate.initiate(order)
    expect(checkoutUrl).toBe(`${gateway.url}/checkout/${token}`)
    expect(requestId).toMatch(/^req_/)
    const payment = await tollgate.status(order)
    expect(payment).toMatchObject({
      status: 'awaiting_payment',
      statusReason: '',
      invoiceId: order.invoiceId,
      reference,
      amount: '25.00',
      amountMinor: 2500,
      currency: 'GHS',
      chargedMinor: null,
      reversedMinor: null,
      paidAt: null,
      asAt: expect.any(Date),
      lastUpdated: expect.any(Date),
      description: 'Two straw hats and a ✓',
      customer: { firstName: 'Ama', lastName: 'Mensah', email: 'ama@shop.example', phone: '+233241234567' },
      mode: 'test',
      extra: { table: '7', channel: null },
    })
    expect(await tollgate.initiate(order)).toMatchObject({ reference, checkoutUrl })
  })

  test('minor units are the amount that is stored', async () => {
    const order = { invoiceId: anOrder().invoiceId, totalMinor: 2505n }
    await tollgate.initiate(order)
    expect(await tollgate.status(order)).toMatchObject({ amount: '25.05', amountMinor: 2505 })
  })

  test('minor units have the decimals of the currency, wherever it is named', async () => {
    const abroad = sdkClient(gateway, await gateway.addMerchant('currencies=UGX'))
    for (const named of [{ currency: 'UGX' }, { extra: { currency: 'ugx' } }]) {
      const order = { invoiceId: anOrder().invoiceId, totalMinor: 5000, ...named }
      await abroad.initiate(order)
      expect(await abroad.status(order)).toMatchObject({ amountMinor: 5000, currency: 'UGX' })
    }
    const order = { invoiceId: anOrder().invoiceId, totalMinor: 500, extra: { currency: 'cedis' } }
    await tollgate.initiate(order)
    expect(await tollgate.status(order)).toMatchObject({ amount: '5.00', extra: { currency: 'cedis' } })
  })

  test('the fake gateway answers with the keys of the real one', async () => {
    const order = anOrder()
    await tollgate.initiate(order)
    const real = await tollgate.status(order)
    const fake = await clientOf({ fetch: fakeGateway([order]) }).status(order)
    expect(Object.keys(fake.raw).toSorted()).toEqual(Object.keys(real.raw).toSorted())
    expect(Object.keys(fake.extra).toSorted()).toEqual(Object.keys(real.extra).toSorted())
  })

  for (const [name, changed, refusal] of [
    [
      'a field that breaks its rule',
      { successUrl: 'shop' },
      { code: 'GW-012', field: 'success_url', httpStatus: 400 },
    ],
    ['too many decimals', { total: '5.001' }, { code: 'GW-012', field: 'total' }],
    ['an unknown outlet', { outlet: 'OSU' }, { code: 'GW-012', field: 'extra_outlet' }],
  ] as [string, Partial<Order>, object][])
    test(`refused by the gateway, once: ${name}`, async () => {
      const retries: Retry[] = []
      const refused = clientOf({ onRetry: retry => void retries.push(retry) }).initiate(anOrder(changed))
      await expect(refused).rejects.toThrow(RefusedError)
      await expect(refused).rejects.toMatchObject({ ...refusal, requestId: expect.stringMatching(/^req_/) })
      expect(retries).toEqual([])
    })

  test('a wrong secret is explained by the text that was hashed', async () => {
    const order = anOrder()
    const wrong = clientOf({ merchantSecret: 'wrong' })
    const { text } = await wrong.sign(order)
    await expect(wrong.initiate(order)).rejects.toMatchObject({
      code: 'GW-010',
      httpStatus: 401,
      hint: { hashedString: text, likelyMistake: expect.stringContaining('another secret_key') },
      message: expect.stringContaining('Check merchantSecret'),
    })
  })

  test('other details for a used invoice are a conflict, and an unknown invoice is not found', async () => {
    const order = anOrder()
    await tollgate.initiate(order)
    const conflict = { code: 'GW-005', httpStatus: 409, message: expect.stringContaining('new invoiceId') }
    await expect(tollgate.initiate({ ...order, total: '26.00' })).rejects.toMatchObject(conflict)
    await expect(tollgate.status({ invoiceId: 'none' })).rejects.toMatchObject({
      code: 'GW-005',
      httpStatus: 404,
    })
  })

  test('errors_as_200 changes nothing', async () => {
    const old = sdkClient(gateway, await gateway.addMerchant('errors_as_200=on'))
    await expect(old.status({ invoiceId: 'none' })).rejects.toMatchObject({ code: 'GW-005', httpStatus: 404 })
    await expect(old.initiate(anOrder({ total: '5.001' }))).rejects.toMatchObject({
      code: 'GW-012',
      httpStatus: 400,
    })
  })

  test('429 is repeated after Retry-After', async () => {
    const retries: Retry[] = []
    const slow = await gateway.addMerchant('rate_limit=2', 'rate_burst=1')
    const client = sdkClient(gateway, slow, { onRetry: retry => void retries.push(retry) })
    await Promise.all([client.initiate(anOrder()), client.initiate(anOrder())])
    expect(retries[0]?.error).toMatchObject({ httpStatus: 429, retryAfterMs: 1000 })
    expect(retries[0]?.delayMs).toBeGreaterThanOrEqual(1000)
  })

  test('an invalid order is not sent', async () => {
    const client = clientOf({ fetch: () => Promise.reject(new Error('sent')), tries: 1 })
    for (const [changed, field] of [
      [{ total: 25 }, 'total'],
      [{ invoiceId: '' }, 'invoiceId'],
      [{ lineItems: [{ name: 'Hat', total: 25 }] }, 'lineItems[0].total'],
      [{ extra: { outlet: 'OSU' } }, 'extra.outlet'],
      [{ extra: { table: 7 } }, 'extra.table'],
    ] as [never, string][])
      await expect(client.initiate({ ...anOrder(), ...(changed as object) })).rejects.toMatchObject({
        code: 'invalid_input',
        field,
      })
  })
})

const paymentsOf = (invoiceId: string) =>
  gateway.db.rows(sql`select tx_reference from payments where invoice_id = ${invoiceId}`)

describe('broken connections', () => {
  for (const cut of ['before the request', 'after the request', 'silent'] as const)
    test(`cut ${cut}: the same bytes are sent again, and there is one payment`, async () => {
      const proxy = await openCuttingProxy(gateway.url, [cut])
      const retries: Retry[] = []
      const client = clientOf({
        baseUrl: `${proxy.url}/`,
        timeoutMs: 400,
        onRetry: retry => void retries.push(retry),
      })
      const order = fullOrder()
      const { reference } = await client.initiate(order)
      expect(retries.map(({ attempt, error }) => [attempt, error.code])).toEqual([[1, 'gateway_unavailable']])
      const sent = proxy.bodies.filter(body => body.includes(order.invoiceId))
      expect(new Set(sent).size).toBe(1)
      expect(sent).toHaveLength(cut === 'before the request' ? 1 : 2)
      expect(await paymentsOf(order.invoiceId)).toEqual([{ tx_reference: reference }])
    })

  test('after the last try the outcome is unknown, and calling again finds the stored payment', async () => {
    const proxy = await openCuttingProxy(gateway.url, ['after the request', 'after the request'])
    const client = clientOf({ baseUrl: proxy.url, tries: 2 })
    const order = anOrder()
    const failing = client.initiate(order)
    await expect(failing).rejects.toThrow(OutcomeUnknownError)
    await expect(failing).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('Call initiate again with the same order'),
    })
    const stored = await paymentsOf(order.invoiceId)
    const { reference } = await client.initiate(order)
    expect(stored).toEqual([{ tx_reference: reference }])
    expect(await paymentsOf(order.invoiceId)).toHaveLength(1)
  })

  test('a status check is repeated, and without an answer it is unavailable', async () => {
    const order = anOrder()
    await tollgate.initiate(order)
    const proxy = await openCuttingProxy(gateway.url, ['after the request'])
    const client = clientOf({ baseUrl: proxy.url })
    expect(await client.status(order)).toMatchObject({ status: 'awaiting_payment' })
    proxy.close()
    await expect(client.status(order)).rejects.toMatchObject({
      name: 'UnavailableError',
      code: 'gateway_unavailable',
    })
  })

  test('a signal ends the call', async () => {
    const proxy = await openCuttingProxy(gateway.url, ['silent'])
    const client = clientOf({ baseUrl: proxy.url })
    const signal = AbortSignal.timeout(50)
    await expect(client.status(anOrder(), { signal })).rejects.toMatchObject({ code: 'aborted' })
  })

  for (const [name, status, headers, body, error] of [
    [
      'an error page of a proxy',
      502,
      {},
      '<h1>Bad Gateway</h1>',
      { code: 'outcome_unknown', httpStatus: 502 },
    ],
    ['a page that is not ours', 200, {}, '<h1>Log in</h1>', { code: 'outcome_unknown' }],
    [
      'another program',
      404,
      {},
      'nothing here',
      { code: 'http_404', message: expect.stringContaining('baseUrl') },
    ],
    ['a redirect', 301, { location: 'https://pay.example' }, '', { code: 'http_301' }],
    [
      'a long Retry-After',
      503,
      { 'retry-after': '3600' },
      '',
      { code: 'outcome_unknown', retryAfterMs: 3_600_000 },
    ],
  ] as [string, number, Record<string, string>, string, object][])
    test(`not an answer of the gateway: ${name}`, async () => {
      const server = createServer((_request, response) => void response.writeHead(status, headers).end(body))
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      await expect(clientOf({ baseUrl, tries: 2 }).initiate(anOrder())).rejects.toMatchObject(error)
    })
})
