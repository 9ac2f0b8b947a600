import { afterAll, beforeAll, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { Refusal } from '../../../src/core/interface/refusal.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

const burst = 100

test('beyond its limit the gateway says that the mistakes were not tried', async () => {
  const { test: keys } = await shop.addMerchant()
  const limits = createRateLimits(() => 0) // no time passes that gives tokens back
  const ask = async (at: number): Promise<string> => {
    const request = { ...signedRequest(keys), secure_hash: '0'.repeat(64) }
    const refusal = await initiate({ ...shop.runtime, limits }, request, 'api', `192.0.2.${at % 250}`).catch(
      (error: unknown) => error,
    )
    if (!(refusal instanceof Refusal)) throw refusal
    return refusal.hint?.likely_mistake ?? refusal.code
  }
  for (let at = 0; at < burst; at++) expect(await ask(at)).toMatch(/^it was made with another secret_key/)
  expect(await ask(burst)).toBe(
    'not known: the usual mistakes were not tried, because the gateway gets too many wrong hashes at the moment; repeat the request',
  )
  for (let at = 1; at < 100; at++) await ask(7)
  expect(await ask(7)).toBe('GW-060') // the address itself has used up its failed lookups
})
