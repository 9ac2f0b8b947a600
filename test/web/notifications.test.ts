import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, post, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'

let gateway: TestGateway
let receiver: Receiver
beforeAll(async () => {
  receiver = await openReceiver()
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
})
afterAll(async () => {
  await gateway.stop()
  await receiver.close()
})

// A wallet whose ending is known, without a page.
async function payBy(merchant: TestMerchant, wallet: string, fields: Record<string, unknown> = {}) {
  const direct = {
    generate_checkout_url: undefined,
    pymt_instrument: wallet,
    extra_wallet_issuer_hint: 'mtn',
    number: '0241234567',
  }
  const request = signedRequest(merchant.test, { ...direct, ipn_url: `${receiver.url}/ipn`, ...fields })
  const { body } = await post(gateway.url, request)
  expect(body).toMatchObject({ success: true })
  return { tx_reference: body.tx_reference as string, invoice_id: request.invoice_id }
}

const told = (tx_reference: string, count = 1) =>
  expect.poll(() => receiver.of(tx_reference).length).toBe(count)

test('a paid payment is told with the fields of the contract, signed, and the status check agrees', async () => {
  const merchant = await gateway.addMerchant()
  const { tx_reference, invoice_id } = await payBy(merchant, '0240000000', { extra_colour: 'red' })
  await told(tx_reference)
  const [one] = receiver.of(tx_reference)
  expect(one).toMatchObject({
    method: 'POST',
    path: '/ipn',
    id: `${tx_reference}-N1`,
    attempt: 1,
    sequence: 1,
  })
  expect(one?.headers['content-type']).toBe('application/json')
  const body = new Webhook(merchant.test.ipn_secret).verify(
    one?.body ?? '',
    one?.headers as Record<string, string>,
  )
  const { body: checked } = await checkStatus(gateway.url, signedQuestion(merchant.test, invoice_id))
  expect(body).toEqual({
    invoice_id,
    tx_reference,
    status: 'paid',
    amount: 25,
    status_reason: '',
    payment_method: 'mtn_mobile_money',
    payment_time: checked.payment_time,
    invoice: invoice_id,
    currency: 'GHS',
    extra: checked.extra,
  })
})

test('the merchant has an address of its own for requests that name none', async () => {
  const merchant = await gateway.addMerchant(`ipn_url=${receiver.url}/default`)
  const { tx_reference } = await payBy(merchant, '0240000002', { ipn_url: undefined })
  await told(tx_reference)
  expect(receiver.of(tx_reference)[0]).toMatchObject({ path: '/default' })
  expect(JSON.parse(receiver.of(tx_reference)[0]?.body ?? '')).toMatchObject({
    status: 'failed',
    payment_time: null,
  })
})

test('style get asks the merchant to look, and appends the invoice to its query', async () => {
  const merchant = await gateway.addMerchant('ipn_style=get', `ipn_url=${receiver.url}/look?shop=1&x=%20`)
  const { invoice_id } = await payBy(merchant, '0240000000', { ipn_url: undefined })
  await expect.poll(() => receiver.received.find(({ method }) => method === 'GET')).toBeDefined()
  const one = receiver.received.find(({ method }) => method === 'GET')
  expect(one).toMatchObject({ path: `/look?shop=1&x=%20&invoice_id=${invoice_id}`, body: '' })
  new Webhook(merchant.test.ipn_secret).verify(
    '',
    one?.headers as Record<string, string>,
    { raw: true } as never,
  )
})

test('style basic is for older clients: a login, the amount as text, no awaiting_payment', async () => {
  const merchant = await gateway.addMerchant()
  const basic = ['ipn_style=basic', `allowed_origins=${receiver.url}`]
  const chosen = await setMerchant(gateway.db, merchant.merchant_id, basic, gateway.masterKeys)
  const { tx_reference } = await payBy(merchant, '0240000000')
  await told(tx_reference)
  const [one] = receiver.of(tx_reference)
  const login = Buffer.from(`${merchant.test.merchant_key}:${chosen?.ipn_passwords?.test}`).toString('base64')
  expect(one?.headers.authorization).toBe(`Basic ${login}`)
  expect(JSON.parse(one?.body ?? '')).toMatchObject({ amount: '25.00', status: 'paid' })
})
