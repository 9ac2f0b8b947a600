import { afterAll, beforeAll, expect, test } from 'vitest'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { eventsOf } from '../../src/store/payments/events.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// A wallet that waits for its owner: the provider's status is pending, whatever a callback contains.
async function startPayment() {
  const request = signedRequest(shop.test, {
    generate_checkout_url: undefined,
    pymt_instrument: '0244123456',
    extra_wallet_issuer_hint: 'mtn',
  })
  const { tx_reference } = (await post(gateway.url, request)).body
  const [attempt] = await attemptsOf(gateway.db, shop.merchant_id, tx_reference)
  const { merchant_key } = shop.test
  const status = async () =>
    (await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).body.status
  return { attempt_id: attempt?.attempt_id ?? '', tx_reference, status }
}

const asked = async (tx_reference: string) =>
  (await attemptsOf(gateway.db, shop.merchant_id, tx_reference))[0]?.polls ?? 0

const knock = (attempt_id: string, body: string, method = 'POST', type = 'application/json') =>
  send(`${gateway.url}/callbacks/${attempt_id}`, { method, body, headers: { 'content-type': type } })

test('a forged callback with paid or failed triggers a poll and changes nothing', async () => {
  const { attempt_id, tx_reference, status } = await startPayment()
  const before = await asked(tx_reference)
  for (const word of ['SUCCESSFUL', 'FAILED']) {
    const lie = { status: word, amount: '25.00', currency: 'GHS', externalId: attempt_id }
    expect((await knock(attempt_id, JSON.stringify(lie))).http).toBe(200)
    expect((await knock(attempt_id, JSON.stringify(lie), 'PUT')).http).toBe(200)
    const large = await knock(attempt_id, 'x'.repeat(1_000_000), 'POST', 'text/html')
    expect([large.http, large.headers.get('connection')]).toEqual([200, 'close'])
  }
  await expect.poll(() => asked(tx_reference)).toBeGreaterThan(before)
  expect(await status()).toBe('awaiting_payment')
})

test('callbacks that are repeated or come late change a payment once', async () => {
  const { attempt_id, tx_reference, status } = await startPayment()
  const decide = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  await send(`${gateway.url}/sandbox/phone/${attempt_id}`, { ...decide, body: 'decision=approve' })
  await Promise.all(Array.from({ length: 20 }, () => knock(attempt_id, '{"status":"SUCCESSFUL"}')))
  await expect.poll(status).toBe('paid')
  for (let again = 0; again < 5; again++) await knock(attempt_id, '{"status":"FAILED"}')
  const events = await eventsOf(gateway.db, shop.merchant_id, tx_reference)
  expect(events.filter(({ kind }) => kind === 'status_changed')).toHaveLength(1)
  expect(await status()).toBe('paid')
})
