import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { after, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

let now = noon
let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({}, { clock: () => now })
  shop = await gateway.addMerchant('expiry_minutes=1440')
})
afterAll(() => gateway.stop())

const pay = async (checkoutUrl: string, lang = 'en') =>
  send(`${checkoutUrl}/pay?lang=${lang}`, {
    method: 'POST',
    body: new URLSearchParams({
      number: '1',
      payment_method: 'mtn_mobile_money',
      'mtn_mobile_money.phone': '0244123456',
    }),
  })

// One wallet has reached the cap of test mode, with a failure every ten seconds from noon on.
const failOften = (tx_reference: string) =>
  gateway.db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, instrument,
      created_at, updated_at, ended_at)
    select ${shop.merchant_id}, 'failed-' || n, ${tx_reference}, n, 'sandbox', 'mtn_mobile_money', 'failed',
      '+233244123456', ${noon}::timestamptz + n * interval '10 seconds', ${noon}, ${noon}
    from generate_series(1, 200) as n`)

test('too many failures: the page shows the correct time to wait', async () => {
  const [failed, fresh] = [signedRequest(shop.test), signedRequest(shop.test)]
  await failOften((await post(gateway.url, failed)).body.tx_reference)
  const { checkout_url } = (await post(gateway.url, fresh)).body
  const when = after(minutes(50))
  now = when
  const refused = await pay(checkout_url)
  expect([refused.http, refused.headers.get('retry-after')]).toEqual([429, '610'])
  expect(refused.text).toContain('Wait 11 min, or pay another way.')
  expect((await pay(checkout_url, 'fr')).text).toContain('Attendez 11 min, ou payez autrement.')
  now = after(seconds(609), when)
  const still = await pay(checkout_url)
  expect([still.http, still.headers.get('retry-after')]).toEqual([429, '1'])
  now = after(seconds(610), when)
  expect((await pay(checkout_url)).http).toBe(303)
})
