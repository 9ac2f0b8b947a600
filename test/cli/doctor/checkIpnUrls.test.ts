import { afterAll, beforeAll, expect, test } from 'vitest'
import { initiate } from '../../../src/actions/interface/initiate.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { checkIpnUrls } from '../../../src/cli/doctor/checkIpnUrls.ts'
import { readConfig } from '../../../src/config.ts'
import { hours } from '../../support/payments/rows.ts'
import { signedRequest } from '../../support/merchant/merchant.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

const now = new Date()
const check = (env: Record<string, string> = {}) => checkIpnUrls(shop.db, readConfig(env), now)

test('addresses that are called, or unknown until they are resolved, and old payments are not reported', async () => {
  const ama = await shop.addMerchant('Ama', 'ipn_url=https://shop.example/ipn')
  shop.setNow(new Date(now.getTime() - hours(30)))
  const old = { ipn_url: 'https://192.168.1.9/old' }
  await initiate(shop.runtime, signedRequest(ama.live, old), 'api', '192.0.2.1')
  shop.setNow(now)
  for (const ipn_url of ['https://shop.example:8443/ipn', 'http://8.8.8.8/ipn'])
    await initiate(shop.runtime, signedRequest(ama.live, { ipn_url }), 'api', '192.0.2.1')
  for (const ipn_url of ['http://127.0.0.1/ipn', 'https://shop.example:81/ipn'])
    await initiate(shop.runtime, signedRequest(ama.test, { ipn_url }), 'api', '192.0.2.1')
  expect(await check()).toBeUndefined()
})

test('an address that is never called is reported, of the setting and of the payments of the last day', async () => {
  const kofi = await shop.addMerchant('Kofi')
  const sent = { ipn_url: 'https://shop.example:3000/ipn' }
  await initiate(shop.runtime, signedRequest(kofi.live, sent), 'api', '192.0.2.1')
  const port = `${kofi.merchant_id}: port 3000 is not open; 80, 443, 8443 are`
  expect(await check()).toMatchObject({
    check: 'notifications',
    state: 'warning',
    fact: `live notifications to these addresses are never sent: ${port}`,
  })
  expect(await check({ TOLLGATE_EGRESS_PORTS: '3000' })).toBeUndefined()
  await setMerchant(shop.db, kofi.merchant_id, ['ipn_url=http://10.0.0.7/ipn'])
  expect((await check())?.fact).toContain(`${kofi.merchant_id}: 10.0.0.7 is a private address; ${port}`)
})
