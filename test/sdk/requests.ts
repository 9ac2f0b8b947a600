import { expect, test } from 'vitest'
import { storeNotification } from '../support/deliveries/notifications.ts'
import { newInvoice } from '../support/merchant/merchant.ts'
import { client, clientOf, errorOf, gateway, resultOf, run } from './world.ts'

export function testRequests() {
  test('a payment is requested once, however often', async () => {
    const order = {
      invoice_id: newInvoice(),
      total: '25.00',
      description: 'Two straw hats, für Åsa',
      line_items: [
        { name: 'Hat', quantity: 2, total_minor: 2000 },
        { name: 'Delivery', total: '5.00' },
      ],
      extra_table: '7',
      email: null,
    }
    const first = await resultOf('initiate', order)
    expect(first.checkout_url).toMatch(/^http.*\/checkout\/[0-9a-z]{42}$/)
    const { total: _, ...rest } = order
    expect(await resultOf('initiate', { ...rest, total_minor: 2500 })).toEqual(first)
    const record = await resultOf('status', order.invoice_id)
    expect(record).toMatchObject({ status: 'awaiting_payment', amount: '25.00', currency: 'GHS' })
    expect(record).toMatchObject({ narration: order.description, extra: { table: '7' } })
  })

  test('another order with the same invoice_id is refused, and the error says what to do', async () => {
    const order = { invoice_id: newInvoice(), total: '25.00' }
    await resultOf('initiate', order)
    const error = await errorOf('initiate', { ...order, total: '26.00' })
    expect(error).toMatchObject({
      class: 'RefusedError',
      code: 'GW-005',
      field: 'invoice_id',
      http_status: 409,
    })
    expect(error?.request_id).toMatch(/^req_/)
    expect(error?.message).toMatch(/Use a new invoice_id/)
  })

  for (const [name, order, field] of [
    ['a float', { total: 25.5 }, 'total'],
    [
      'a float of an item',
      { total: '25.00', line_items: [{ name: 'Hat', total: 25.5 }] },
      'line_items[0].total',
    ],
    ['an integer, whose unit is not clear', { total: 25 }, 'total'],
    ['a float of minor units', { total_minor: 25.5 }, 'total_minor'],
    ['two totals', { total: '25.00', total_minor: 2500 }, 'total_minor'],
    ['no total', {}, 'total'],
    ['no invoice_id', { invoice_id: null, total: '1.00' }, 'invoice_id'],
  ] as const)
    test(`${name} is refused before anything is sent`, async () => {
      const error = await errorOf('initiate', { invoice_id: newInvoice(), ...order })
      expect(error).toMatchObject({ class: 'InvalidInputError', code: 'invalid_input', field })
    })

  test('a wrong secret is explained in test mode', async () => {
    const wrong = { ...client, merchant_secret: 'another' }
    const { error } = await run('initiate', wrong, { invoice_id: newInvoice(), total: '1.00' })
    expect(error).toMatchObject({ class: 'RefusedError', code: 'GW-010', http_status: 401 })
    expect(error?.message).toMatch(/hashed string: invoice_id=.*Check merchant_?secret/i)
  })

  test('errors that come with HTTP 200 are errors too', async () => {
    const old = clientOf(await gateway.addMerchant('errors_as_200=on'))
    const { error } = await run('status', old, 'none')
    expect(error).toMatchObject({ class: 'RefusedError', code: 'GW-005', http_status: 404 })
  })

  test('a currency without decimals keeps its amount', async () => {
    const abroad = clientOf(await gateway.addMerchant('currencies=UGX'))
    for (const currency of [{ currency: 'UGX' }, { extra_currency: 'UGX' }]) {
      const order = { invoice_id: newInvoice(), total_minor: 5000, ...currency }
      expect((await run('initiate', abroad, order)).error).toBeUndefined()
      const { result } = await run('status', abroad, order.invoice_id)
      expect(result).toMatchObject({ amount: '5000.00', currency: 'UGX' })
    }
  })
}

export function testFeed() {
  test('every event comes once and in order, from any cursor', async () => {
    const other = await gateway.addMerchant()
    const { merchant_id } = other
    for (let count = 0; count < 5; count++) await storeNotification(gateway.db, { merchant_id })
    const read = async (after: string, limit: number) =>
      (await run('events', clientOf(other), after, limit)).result as {
        cursor: string
        data: Record<string, unknown>
        body: string
      }[]
    const events = await read('', 2)
    expect(events.map(({ cursor }) => cursor)).toEqual(['1', '2', '3', '4', '5'])
    expect(events[0]?.data).toEqual(JSON.parse(events[0]?.body ?? ''))
    expect(await read('3', 100)).toEqual(events.slice(3))
    expect(await read('5', 100)).toEqual([])
    await storeNotification(gateway.db, { merchant_id })
    expect((await read('5', 100)).map(({ cursor }) => cursor)).toEqual(['6'])
  })

  test('a cursor that the gateway never gave is refused', async () => {
    expect(await errorOf('events', '999', 10)).toMatchObject({ code: 'GW-012', field: 'after' })
  })
}
