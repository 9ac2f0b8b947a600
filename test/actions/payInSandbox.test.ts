import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway.ts'
import { checkStatus, post, signedRequest } from '../support/merchant.ts'

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
  return { request, status }
}

async function until<T>(read: () => Promise<T>, is: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries++) {
    const value = await read()
    if (is(value)) return value
    await new Promise(done => setTimeout(done, 50))
  }
  return read()
}

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
    const ended = await until(paying.status, record => record.status !== 'awaiting_payment')
    expect(ended).toMatchObject({
      status,
      status_reason: reason,
      payment_method: 'mtn_mobile_money',
      payment_instrument: `024 ••• 000${number.at(-1)}`,
    })
    expect(ended.extra).toMatchObject({ channel: 'mtn_mobile_money', psp_response_code: null })
    if (status === 'paid') expect(ended).toMatchObject({ total_amount_charged: Number(total) })
  })
}
