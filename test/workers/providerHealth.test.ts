import { afterAll, beforeAll, expect, test } from 'vitest'
import { readProviderStatus } from '../../src/actions/providers/health.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { shopOf, wallet } from '../support/checkout/stages.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.05 })
})
afterAll(() => gateway.stop())

test('a payment adds to the health of its account, in the metrics and for other nodes', async () => {
  const shop = shopOf(gateway)
  const token = await shop.ask(await shop.merchant('Ama Shop'))
  await shop.pay(token, wallet('0240000000'))
  await shop.until(token, 'paid')
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  expect(text).toMatch(
    /^tollgate_provider_calls_total\{account="sandbox",.*verb="start",outcome="answered"\} 1$/m,
  )
  expect(text).toMatch(/^tollgate_provider_health\{account="sandbox",payment_method="mtn_mobile_money"\} 0$/m)
  await expect
    .poll(() => readProviderStatus(gateway.db, new Date()), { timeout: 20_000 })
    .toMatchObject([
      {
        account: 'sandbox',
        payment_method: 'mtn_mobile_money',
        health: 'healthy',
        paid_seconds_ago: expect.any(Number),
      },
    ])
})
