import { afterAll, beforeAll, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { checkPayers } from '../../../src/cli/doctor/checkAddresses.ts'
import { readConfig } from '../../../src/config.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { hours, no } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let kofi: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  kofi = await shop.addMerchant('Kofi Shop', 'unsigned_requests=on')
})
afterAll(() => shop.stop())

const start = Date.now()
const open = readConfig({ TOLLGATE_BASE_URL: 'https://pay.example' })
const check = async (config = open, now = new Date(start)) => {
  const result = await checkPayers(shop.db, config, now)
  return result && `${result.state}: ${result.fact}`
}

let tried = 0
async function tryAtPages(merchant: TestMerchant, count: number, address: string, at = new Date(start)) {
  shop.setNow(at)
  for (let one = 0; one < count; one++)
    await shop.try(await shop.ask(merchant), no, {
      address,
      lang: 'en',
      input: { phone: `024${1_000_000 + tried++}` },
    })
}

const warning = (tries: number) =>
  `warning: all ${tries} tries to pay of the last day seem to come from one address`

test("few tries, tries of another day and tries from a merchant's server do not count", async () => {
  await tryAtPages(kofi, 5, '192.0.2.1', new Date(start - hours(25)))
  await tryAtPages(kofi, 19, '192.0.2.1')
  shop.setNow(new Date(start))
  for (let one = 0; one < 5; one++) {
    const { secure_hash: _, ...request } = signedRequest(kofi.live, {
      generate_checkout_url: undefined,
      pymt_instrument: `024200000${one}`,
      extra_wallet_issuer_hint: 'mtn',
    })
    await initiate(shop.runtime, request, 'api', '192.0.2.1')
  }
  expect(await check()).toBeUndefined()
})

test('many tries from one address are reported with the fix, unless only this machine reaches the gateway', async () => {
  await tryAtPages(kofi, 1, '192.0.2.1')
  expect(await check()).toBe(warning(20))
  const result = await checkPayers(shop.db, open, new Date(start))
  expect(result?.todo).toMatch(/set TOLLGATE_TRUST_PROXY to the number of proxies \(it is 0\)\.$/)
  expect(await check(readConfig({}))).toBeUndefined()
  expect(await check(readConfig({ HOST: '0.0.0.0' }))).toBe(warning(20))
  expect(await check(open, new Date(start + hours(25)))).toBeUndefined()
})

test('two merchants get one warning; a second address ends it', async () => {
  const ama = await shop.addMerchant()
  await tryAtPages(ama, 20, '192.0.2.1')
  expect(await check()).toBe(warning(40))
  await tryAtPages(ama, 1, '192.0.2.2')
  expect(await check()).toBe('ok: they come from different addresses')
})
