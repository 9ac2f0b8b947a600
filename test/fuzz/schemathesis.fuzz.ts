import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { bringSchemathesis, runSchemathesis } from './schemathesis.ts'
import { openDeliveryDatabase, type Shop } from './shops.ts'

const metricsToken = 'a-token-to-read-the-numbers'
const { FUZZ_EXAMPLES = '50', FUZZ_SEED = '1' } = process.env

let gateway: TestGateway
let shop: Shop | undefined

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1', TOLLGATE_METRICS_TOKEN: metricsToken })
  shop = (await openDeliveryDatabase(gateway))[0]
})
afterAll(() => gateway.stop())

test('schemathesis finds no answer outside the description', { timeout: 3_600_000 }, async context => {
  const brought = await bringSchemathesis()
  if ('why' in brought) {
    console.log(brought.why)
    context.skip(brought.why)
    return
  }
  const code = await runSchemathesis(brought.program, gateway.url, {
    FUZZ_MERCHANT_KEY: shop?.merchant_key ?? '',
    FUZZ_SECRET_KEY: shop?.secret_key ?? '',
    FUZZ_METRICS_TOKEN: metricsToken,
    FUZZ_EXAMPLES,
    FUZZ_SEED,
  })
  expect(code).toBe(0)
})
