import { afterAll, beforeAll, expect, test } from 'vitest'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import { tasksOf } from '../../../src/store/payments/tasks.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// A direct request has no page: the whole story by wire alone.
async function payDirectly(number: string, fields: Record<string, unknown> = {}) {
  const request = signedRequest(shop.test, {
    generate_checkout_url: undefined,
    pymt_instrument: number,
    extra_wallet_issuer_hint: 'MTN',
    ...fields,
  })
  const answer = await post(gateway.url, request)
  expect(answer.body).toMatchObject({ success: true, status: 'new', invoice_id: request.invoice_id })
  const { merchant_key } = shop.test
  const status = async () =>
    (await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).body
  const { merchant_id } = shop
  const key = [gateway.db, merchant_id, answer.body.tx_reference as string] as const
  return { request, status, message: answer.body.message, key }
}

async function until<T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const value = await read()
    if (is(value)) return value
    await new Promise(done => setTimeout(done, 50))
  }
  return read()
}

const ended = (record: any) => record.status !== 'awaiting_payment'

for (const [number, total, status, reason] of [
  ['0240000000', '25.00', 'paid', ''],
  ['0240000002', '25.00', 'failed', 'Not enough money in the account.'],
  ['0240000003', '25.00', 'failed', 'The customer declined on the phone.'],
  ['0240000004', '25.00', 'failed', 'The customer did not approve in time.'],
  ['0240000005', '25.00', 'paid', ''],
  ['0240000006', '25.00', 'paid', ''],
  ['0240000008', '25.00', 'paid', ''],
  ['0240000001', '0.01', 'failed', 'The customer did not approve in time.'],
  ['0240000001', '0.02', 'failed', "The provider lost its connection to the customer's network."],
  ['0240000001', '0.05', 'paid', ''],
] as const) {
  test(`${number} for ${total} ends ${status}`, async () => {
    const paying = await payDirectly(number, { total })
    const record = await until(paying.status, ended)
    expect(record).toMatchObject({
      status,
      status_reason: reason,
      payment_method: 'mtn_mobile_money',
      payment_instrument: `024 ••• 000${number.at(-1)}`,
    })
    expect(record.extra).toMatchObject({ channel: 'mtn_mobile_money', psp_response_code: null })
    if (status === 'paid') expect(record).toMatchObject({ total_amount_charged: Number(total) })
  })
}

test('a wrong voucher, a missing one, and one that is no number', async () => {
  const telecel = { extra_wallet_issuer_hint: 'vodafone', generate_checkout_url: undefined }
  const asked = { ...telecel, pymt_instrument: '0200000000' }
  for (const voucher_code of [undefined, 'abc']) {
    const request = signedRequest(shop.test, { ...asked, voucher_code })
    const refused = await post(gateway.url, request)
    expect([refused.http, refused.body.error]).toMatchObject([400, { code: 'GW-012', field: 'voucher_code' }])
    const { merchant_key } = shop.test
    expect((await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).http).toBe(404)
  }
  const wrong = await payDirectly('0200000000', { ...telecel, voucher_code: '000000' })
  const right = await payDirectly('0200000000', { ...telecel, voucher_code: '123 456' })
  expect(await until(wrong.status, ended)).toMatchObject({
    status: 'failed',
    status_reason: 'The voucher code was not accepted.',
  })
  expect(await until(right.status, ended)).toMatchObject({ status: 'paid', payment_method: 'telecel_cash' })
  const [attempt] = await attemptsOf(...right.key)
  expect(attempt?.given).toEqual({}) // what the customer gave is forgotten when it is over
})

for (const [number, words] of [
  ['+447911123456', 'cannot have a wallet of this network, which takes mobile numbers like 024 412 3456'],
  ['0302123456', 'cannot have a wallet of this network, which takes mobile numbers like 024 412 3456'],
  ['0244 12', 'is not a possible phone number'],
] as const)
  test(`${number} is refused, and nothing is stored`, async () => {
    const request = signedRequest(shop.test, {
      generate_checkout_url: undefined,
      pymt_instrument: number,
      extra_wallet_issuer_hint: 'mtn',
    })
    const { http, body } = await post(gateway.url, request)
    expect([http, body.error]).toMatchObject([
      400,
      { code: 'GW-012', field: 'pymt_instrument', message: `pymt_instrument: ${words}` },
    ])
    const { merchant_key } = shop.test
    expect((await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).http).toBe(404)
  })

test('numbers are read as people write them, and a contact may be abroad', async () => {
  const paying = await payDirectly('\u202a+233 (0)24\u00a0000.0000\u202c', { number: '0044 7911 123456' })
  const record = await until(paying.status, ended)
  expect(record).toMatchObject({ status: 'paid', payment_instrument: '024 ••• 0000' })
  const again = await post(gateway.url, { ...paying.request, pymt_instrument: '240000000' })
  expect(again.body).toMatchObject({ success: true }) // the same number, so the same request
  expect(await attemptsOf(...paying.key)).toMatchObject([{ instrument: '+233240000000' }])
})

test('failed first, then the money arrives: late, and paid', async () => {
  const paying = await payDirectly('0240000007')
  const failed = await until(paying.status, record => record.status === 'failed')
  expect(failed.status).toBe('failed')
  const paid = await until(paying.status, record => record.status === 'paid')
  expect(paid).toMatchObject({ status: 'paid', status_reason: 'The money arrived late.' })
  const path = (await eventsOf(...paying.key)).filter(event => event.kind === 'status_changed')
  expect(path.map(event => [event.from_status, event.to_status, event.cause])).toEqual([
    ['awaiting_payment', 'failed', 'provider'],
    ['failed', 'paid', 'provider'],
  ])
})

test('a different amount than requested is never paid, and an operator task is created', async () => {
  const paying = await payDirectly('0240000009')
  const tasks = await until(
    () => tasksOf(...paying.key),
    found => found.length > 0,
  )
  expect(tasks).toMatchObject([{ kind: 'amount_mismatch', amount: 2600n }])
  expect(await paying.status()).toMatchObject({ status: 'awaiting_payment', payment_time: null })
  expect(gateway.logs.some(line => line.includes('a task needs an operator'))).toBe(true)
})

test('the same request again finds the same attempt', async () => {
  const paying = await payDirectly('0249999999')
  const again = await post(gateway.url, paying.request)
  expect(again.body).toMatchObject({ success: true, message: paying.message })
  expect(await attemptsOf(...paying.key)).toHaveLength(1)
})

test('without a provider the payment is stored, and the message says that the customer was not asked', async () => {
  const request = signedRequest(shop.live, {
    generate_checkout_url: undefined,
    pymt_instrument: '0240000000',
    extra_wallet_issuer_hint: 'mtn',
  })
  const stored = await post(gateway.url, request)
  expect(stored.http).toBe(200)
  expect(stored.body.message).toContain('the customer was not asked to pay')
})

const knock = (attempt: string) =>
  send(`${gateway.url}/callbacks/${attempt}`, { method: 'POST', body: '{"status":"SUCCESSFUL"}' })

test('a callback at the wrong address changes nothing and reveals nothing', async () => {
  const unknown = await knock(`${shop.merchant_id}${'0'.repeat(26)}`)
  expect([unknown.http, unknown.text]).toEqual([200, 'ok\n'])
  for (const noId of ['x', 'a'.repeat(5000)]) expect((await knock(noId)).http).toBe(404)
  expect((await knock('%00')).http).toBe(400) // no address of ours is written like that
})
