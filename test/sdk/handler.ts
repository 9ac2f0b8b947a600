import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redeliver } from '../../src/actions/notifications/redeliver.ts'
import { sql } from '../../src/store/db.ts'
import { newInvoice } from '../support/merchant/merchant.ts'
import { type Sdk, type Shop, startShop } from './programs.ts'
import { client, gateway, merchant, resultOf } from './world.ts'

const leaseSeconds = 2
let shop: Shop

// A shop in the language of the SDK receives the notifications of the gateway.
export function testHandler(sdk: Sdk) {
  for (const store of ['file', 'sql'] as const)
    describe(`with a ${store} store`, () => {
      beforeAll(async () => {
        shop = await startShop(sdk, { client, store, lease_seconds: leaseSeconds })
      })
      afterAll(() => shop.stop())
      testCalls()
      if (store === 'file') testComparison()
    })
}

type Paid = { invoice_id: string; tx_reference: string }

// Requests a payment that a test wallet decides at once; 0240000002 has not enough funds. The gateway sends the
// notification to the shop or, so that failures do not open its circuit breaker, nowhere.
async function pay(
  order: Record<string, unknown>,
  ipn_url: string | null,
  wallet = '0240000000',
  invoice_id = newInvoice(),
): Promise<Paid> {
  shop.addOrder(invoice_id, { total: '25.00', ...order })
  const direct = { pymt_instrument: wallet, extra_wallet_issuer_hint: 'mtn', ipn_url }
  const { tx_reference } = await resultOf('initiate', { invoice_id, total: '25.00', ...direct })
  const isDecided = sql`select 1 from notifications where tx_reference = ${tx_reference}`
  await expect.poll(() => gateway.db.rows(isDecided)).toHaveLength(1)
  return { invoice_id, tx_reference }
}

const untilAnswered = ({ tx_reference }: Paid, last_try: number, last_status: number) =>
  expect
    .poll(() =>
      gateway.db.rows(sql`select last_try, last_status from deliveries where tx_reference = ${tx_reference}`),
    )
    .toEqual([{ last_try, last_status }])

const sendAgain = (payment: Paid) =>
  redeliver(gateway.db, { merchant_id: merchant.merchant_id, sequence: 1, ...payment }, new Date())

// Sends a notification of a stored payment, as a further try of the gateway does.
async function notify(payment: Record<string, unknown>, change = (body: string) => body) {
  const { body, headers } = await resultOf('signed', payment, merchant.test.ipn_secret)
  const answer = await fetch(shop.url, { method: 'POST', headers, body: change(body) })
  return [answer.status, await answer.text()]
}

const forge = (body: string) => body.replace('"amount":25', '"amount":99')

function testCalls() {
  test('a paid payment reaches the function once, however often the gateway sends it', async () => {
    const payment = await pay({}, shop.url)
    await untilAnswered(payment, 1, 200)
    expect(shop.calls(payment.invoice_id)).toEqual(['paid 25.00'])
    await sendAgain(payment)
    await untilAnswered(payment, 2, 200)
    expect(await notify(payment)).toEqual([200, 'duplicate'])
    expect(shop.calls(payment.invoice_id)).toEqual(['paid 25.00'])
  })

  test('a test notification is acknowledged, and calls nothing', async () => {
    const fields = { type: 'test', invoice_id: 'tollgate:test', status: 'awaiting_payment', amount: 0 }
    expect(await notify(fields)).toEqual([200, 'ignored'])
    expect(shop.calls(fields.invoice_id)).toEqual([])
  })

  test('a function that fails is called again, until it succeeds', async () => {
    const payment = await pay({ first: 'fails' }, shop.url)
    await untilAnswered(payment, 1, 500)
    await sendAgain(payment)
    await untilAnswered(payment, 2, 200)
    expect(shop.calls(payment.invoice_id)).toEqual(['paid 25.00', 'paid 25.00'])
    expect(await notify(payment)).toEqual([200, 'duplicate'])
  })

  test('an invoice id that ends in a status is not taken for that status of another invoice', async () => {
    const payment = await pay({}, null)
    const namesake = await pay({ seconds: 1 }, null, undefined, `${payment.invoice_id}:paid`)
    const slow = notify(namesake)
    await expect.poll(() => shop.calls(namesake.invoice_id)).toHaveLength(1)
    expect(await notify(payment)).toEqual([200, 'handled']) // while the other is being handled
    expect(await slow).toEqual([200, 'handled'])
    const later = await pay({}, null, undefined, `${namesake.invoice_id}:paid`)
    expect(await notify(later)).toEqual([200, 'handled']) // after the other was handled
    expect(await notify(payment)).toEqual([200, 'duplicate'])
    expect(await notify(namesake)).toEqual([200, 'duplicate'])
  })

  test('a process that dies in the function leads to another call when its claim has expired', async () => {
    const payment = await pay({ first: 'dies' }, null)
    await expect(notify(payment)).rejects.toThrow()
    expect(await notify(payment)).toEqual([503, 'handler_busy'])
    await expect.poll(() => notify(payment), { interval: 200 }).toEqual([200, 'handled'])
    expect(shop.calls(payment.invoice_id)).toHaveLength(2)
  })

  // A server may serve two of them one after the other: then the second is a duplicate.
  test('of simultaneous copies one calls the function, and no other is acknowledged before it has ended', async () => {
    const payment = await pay({ seconds: 0.3 }, null)
    const answers = await Promise.all([notify(payment), notify(payment), notify(payment)])
    const others = answers.filter(([, code]) => code !== 'handled')
    expect(others).toHaveLength(2)
    for (const [http, code] of others)
      expect(['503 handler_busy', '200 duplicate']).toContain(`${http} ${code}`)
    expect(shop.calls(payment.invoice_id)).toHaveLength(1)
  })
}

function testComparison() {
  test('the status is that of the gateway, whatever the notification has', async () => {
    const payment = await pay({ total: undefined, total_minor: 2500 }, shop.url, '0240000002')
    await untilAnswered(payment, 1, 200)
    expect(await notify({ ...payment, status: 'paid' })).toEqual([200, 'duplicate'])
    expect(shop.calls(payment.invoice_id)).toEqual(['failed 25.00'])
  })

  test('a forged or unsigned notification is answered 401, one that cannot be read 400', async () => {
    expect(await notify({}, forge)).toEqual([401, 'signature_mismatch'])
    expect(await notify({ status: null })).toEqual([400, 'notification_malformed'])
    const unsigned = await fetch(shop.url, { method: 'POST', body: '{}' })
    expect([unsigned.status, await unsigned.text()]).toEqual([401, 'signature_missing'])
  })

  for (const [name, order, code] of [
    ['amount', { total: '26.00' }, 'amount_mismatch'],
    ['amount, a hundredth,', { total_minor: 25, total: undefined }, 'amount_mismatch'],
    ['currency', { currency: 'USD' }, 'currency_mismatch'],
    ['invoice', { invoice_id: 'another' }, 'invoice_mismatch'],
  ] as const)
    test(`another ${name} than the order's never reaches the function`, async () => {
      const payment = await pay(order, null)
      expect(await notify(payment)).toEqual([500, code])
      expect(shop.calls(payment.invoice_id)).toEqual([])
      shop.addOrder(payment.invoice_id, { total: '25.00' }) // corrected
      expect(await notify({ ...payment, tx_reference: 'TG-OTHER' })).toEqual([500, 'reference_mismatch'])
      expect(await notify(payment)).toEqual([200, 'handled'])
    })

  test('an order that is not found, and a payment that is not found, are answered 5xx', async () => {
    const payment = await pay({}, null)
    shop.removeOrder(payment.invoice_id)
    expect(await notify(payment)).toEqual([503, 'order_not_found'])
    expect(await notify({ invoice_id: 'none', tx_reference: 'TG-NONE' })).toEqual([500, 'GW-005'])
  })
}
