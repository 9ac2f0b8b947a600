import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createTollgate,
  memoryStore,
  type NotificationRules,
  type TollgateError,
} from '../../sdk/node/src/index.ts'
import { notificationListener } from '../../sdk/node/src/node.ts'
import {
  fakeGateway,
  signedNotification,
  type TestPayment,
  testIpnSecret,
} from '../../sdk/node/src/testing.ts'

const options = {
  baseUrl: 'https://pay.example',
  merchantKey: 'tk_demo',
  merchantSecret: 'secret',
  ipnSecret: testIpnSecret,
}
const delivery = { ipnSecret: testIpnSecret }
const payment: TestPayment = { invoiceId: 'AMA-1042', total: '25.00' }

// A shop with one order, whose payment the gateway has as `stored`.
function shopWith(changed: Partial<NotificationRules> = {}, stored: TestPayment = payment) {
  const tollgate = createTollgate({ ...options, fetch: fakeGateway([stored]) })
  const calls: string[] = []
  const errors: TollgateError[] = []
  const rules: NotificationRules = {
    store: memoryStore(),
    findOrder: invoiceId => (invoiceId === 'AMA-1042' ? { total: '25.00' } : null),
    onStatus: ({ status }) => void calls.push(status),
    onError: error => void errors.push(error),
    ...changed,
  }
  const receive = async (sent: TestPayment = stored) => {
    const { request } = await signedNotification(sent, delivery)
    const response = await tollgate.handleNotification({ request: request(), ...rules })
    return [response.status, ((await response.json()) as { outcome: string }).outcome]
  }
  return { tollgate, rules, calls, errors, receive }
}

const handled = [200, 'handled']

test('onStatus is called once for an invoice and status, and duplicates are acknowledged', async () => {
  const { receive, calls } = shopWith()
  expect(await receive()).toEqual(handled)
  expect(await receive()).toEqual([200, 'duplicate'])
  expect(calls).toEqual(['paid'])
})

test('an order with empty columns, or with minor units, matches', async () => {
  for (const findOrder of [
    () => ({ total: '25.0000', currency: null, reference: null, invoiceId: null }),
    () => ({ totalMinor: 2500, currency: 'GHS', reference: 'TG-TEST-AMA-1042', invoiceId: 'AMA-1042' }),
  ])
    expect(await shopWith({ findOrder }).receive()).toEqual(handled)
})

test('the status of the gateway counts, not that of the notification', async () => {
  const { receive, calls } = shopWith({}, { ...payment, status: 'failed' })
  expect(await receive({ ...payment, status: 'paid' })).toEqual(handled)
  expect(calls).toEqual(['failed'])
})

test('a forged notification is refused, and nothing is asked or called', async () => {
  const { tollgate, rules, calls, errors } = shopWith()
  const { rawBody, headers } = await signedNotification(payment, delivery)
  const forged = rawBody.replace('25', '99')
  const response = await tollgate.handleNotification({ rawBody: forged, headers, ...rules })
  expect([response.status, calls, errors.map(({ code }) => code)]).toEqual([401, [], ['signature_mismatch']])
})

for (const [name, changed, stored, answer] of [
  ['another amount', {}, { ...payment, total: '0.25' }, [500, 'amount_mismatch']],
  ['another currency', {}, { ...payment, currency: 'USD' }, [500, 'currency_mismatch']],
  [
    'another reference',
    { findOrder: () => ({ total: '25.00', reference: 'TG-1' }) },
    payment,
    [500, 'reference_mismatch'],
  ],
  [
    'another invoice',
    { findOrder: () => ({ total: '25.00', invoiceId: 'AMA-1' }) },
    payment,
    [500, 'invoice_mismatch'],
  ],
  ['no order', { findOrder: () => undefined }, payment, [503, 'order_not_found']],
  [
    'findOrder throws',
    { findOrder: () => Promise.reject(new Error('down')) },
    payment,
    [500, 'handler_failed'],
  ],
] as [string, Partial<NotificationRules>, TestPayment, unknown][])
  test(`onStatus is not called: ${name}`, async () => {
    const { receive, calls, errors } = shopWith(changed, stored)
    expect([await receive(), calls]).toEqual([answer, []])
    expect(errors).toHaveLength(1)
  })

test('a payment that the gateway does not have is not acknowledged', async () => {
  const { receive, calls } = shopWith()
  expect([await receive({ ...payment, invoiceId: 'AMA-1' }), calls]).toEqual([[500, 'GW-005'], []])
})

test('while the gateway does not answer the status check, the notification is not acknowledged', async () => {
  const { rules, calls } = shopWith()
  const deaf = createTollgate({ ...options, fetch: () => Promise.reject(new TypeError('fetch failed')) })
  const { request } = await signedNotification(payment, delivery)
  const response = await deaf.handleNotification({ request: request(), ...rules })
  expect([response.status, calls]).toEqual([503, []])
})

test('after onStatus has thrown, the next delivery calls it again', async () => {
  let fails = true
  const { receive, calls, errors } = shopWith({
    onStatus: async ({ status }) => {
      calls.push(status)
      if (fails) throw new Error('no stock')
    },
  })
  expect(await receive()).toEqual([500, 'handler_failed'])
  expect(errors[0]).toMatchObject({ code: 'handler_failed', cause: new Error('no stock') })
  fails = false
  expect(await receive()).toEqual(handled)
  expect(await receive()).toEqual([200, 'duplicate'])
  expect(calls).toEqual(['paid', 'paid'])
})

test('a delivery during a call of onStatus is not acknowledged and does not call it', async () => {
  let end: () => void = expect.unreachable
  const { receive, calls } = shopWith({
    onStatus: ({ status }) => {
      calls.push(status)
      return new Promise<void>(resolve => (end = resolve))
    },
  })
  const first = receive()
  await expect.poll(() => calls).toEqual(['paid'])
  expect(await receive()).toEqual([503, 'handler_busy'])
  end()
  expect(await first).toEqual(handled)
  expect(calls).toEqual(['paid'])
})

test('an older status is never passed on after a newer one', async () => {
  const stored: TestPayment = { ...payment, status: 'failed' }
  const checked: (() => void)[] = []
  const slow: typeof fetch = async (...request) => {
    const answer = await fakeGateway([{ ...stored }])(...request) // as it is now
    if (stored.status === 'failed') await new Promise<void>(resolve => checked.push(resolve))
    return answer
  }
  const { rules, calls } = shopWith()
  const tollgate = createTollgate({ ...options, fetch: slow })
  const receive = async (status: 'failed' | 'paid', sequence: number) => {
    const { request } = await signedNotification({ ...payment, status }, { ...delivery, sequence })
    return (await tollgate.handleNotification({ request: request(), ...rules })).status
  }
  const older = receive('failed', 1)
  await expect.poll(() => checked.length).toBe(1)
  stored.status = 'paid'
  expect(await receive('paid', 2)).toBe(503) // sent again later
  checked[0]?.()
  expect(await older).toBe(200)
  expect(await receive('paid', 2)).toBe(200)
  expect(calls).toEqual(['failed', 'paid'])
})

test('an invoice id that ends like a key of the store is an invoice id', async () => {
  const store = memoryStore()
  await store.claim('test:AMA:paid', 'owner', 1000)
  await store.complete('test:AMA:paid', 'owner') // AMA is paid; AMA:paid is another invoice
  const other: TestPayment = { invoiceId: 'AMA:paid', total: '25.00' }
  const { receive, calls } = shopWith({ store, findOrder: () => ({ total: '25.00' }) }, other)
  expect([await receive(), calls]).toEqual([handled, ['paid']])
})

test('a crash between claim and completion leads to another call', async () => {
  const store = memoryStore()
  const claimed = await store.claim('test:AMA-1042:paid', 'a process that ended', 300)
  const { receive, calls } = shopWith({ store })
  expect([claimed, await receive(), calls]).toEqual(['claimed', [503, 'handler_busy'], []])
  await sleep(320)
  expect([await receive(), calls]).toEqual([handled, ['paid']])
})

test('a store that fails after onStatus leads to another call, not to a lost one', async () => {
  const store = memoryStore()
  const broken = { ...store, complete: () => Promise.reject(new Error('disk full')) }
  const { receive, calls, rules } = shopWith({ store: broken, leaseMs: 1 })
  expect(await receive()).toEqual([500, 'store_failed'])
  await sleep(5)
  rules.store = store
  expect([await receive(), calls]).toEqual([handled, ['paid', 'paid']])
})

test('a store that cannot release does not hide why onStatus failed', async () => {
  const { receive, errors } = shopWith({
    store: { ...memoryStore(), release: () => Promise.reject(new Error('disk full')) },
    onStatus: () => Promise.reject(new Error('no stock')),
  })
  expect(await receive()).toEqual([500, 'handler_failed'])
  expect(errors).toMatchObject([{ cause: new Error('no stock') }])
})

test('an onError that throws does not change the answer', async () => {
  const { receive } = shopWith({
    findOrder: () => null,
    onError: () => {
      throw new Error('log is full')
    },
  })
  expect(await receive()).toEqual([503, 'order_not_found'])
})

for (const [name, make, answer] of [
  ['GET', () => new Request('https://shop.example/ipn'), 405],
  [
    'too large',
    () => new Request('https://shop.example/ipn', { method: 'POST', body: 'x'.repeat(300_000) }),
    413,
  ],
  ['read before', () => readBefore(), 500],
] as [string, () => Request | Promise<Request>, number][])
  test(`a web request is refused: ${name}`, async () => {
    const { tollgate, rules, calls } = shopWith()
    const response = await tollgate.handleNotification({ request: await make(), ...rules })
    expect([response.status, calls]).toEqual([answer, []])
  })

async function readBefore() {
  const { request } = await signedNotification(payment, delivery)
  const read = request()
  await read.text()
  return read
}

describe('in node:http and Express', () => {
  // What body parsers leave behind.
  type Parsed = IncomingMessage & { body?: unknown; rawBody?: unknown }
  const readAll = async (request: Parsed) => Buffer.concat((await request.toArray()) as Buffer[])

  for (const [name, before, answer] of [
    ['nothing has read the body', () => {}, 200],
    ['a parser skipped it', (request: Parsed) => void (request.body = {}), 200],
    ['express.raw', async (request: Parsed) => void (request.body = await readAll(request)), 200],
    ['express.text', async (request: Parsed) => void (request.body = String(await readAll(request))), 200],
    [
      'express.json, with the raw body saved',
      async (request: Parsed) => {
        request.rawBody = await readAll(request)
        request.body = {}
      },
      200,
    ],
    [
      'express.json',
      async (request: Parsed) => void (request.body = JSON.parse(String(await readAll(request)))),
      500,
    ],
  ] as const)
    test(`${name}: ${answer}`, async () => {
      const { tollgate, rules, calls, errors } = shopWith()
      const listener = notificationListener(tollgate, rules)
      const url = await serve(async (request, response) => {
        await before(request)
        await listener(request, response)
      })
      const { rawBody, headers } = await signedNotification(payment, delivery)
      const response = await fetch(url, { method: 'POST', body: rawBody, headers })
      expect([response.status, calls]).toEqual([answer, answer === 200 ? ['paid'] : []])
      if (answer === 500) {
        expect(errors[0]).toMatchObject({ code: 'body_already_read' })
        expect(errors[0]?.message).toContain('express.json()')
      }
    })

  test('GET and large bodies are refused', async () => {
    const { tollgate, rules } = shopWith()
    const url = await serve(notificationListener(tollgate, rules))
    expect((await fetch(url)).status).toBe(405)
    expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_000) })).status).toBe(413)
  })
})

async function serve(listener: ReturnType<typeof notificationListener>): Promise<string> {
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipn`
}
