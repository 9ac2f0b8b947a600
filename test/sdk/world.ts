import { afterAll, beforeAll, expect } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { type FaultyGateway, openFaultyGateway } from './faultyGateway.ts'
import { type ClientOptions, type Driver, type Sdk, startDriver } from './programs.ts'

// What the tests of one SDK share: a gateway, a faulty proxy in front of it, a merchant, and the driver of the SDK.
export let gateway: TestGateway
export let faulty: FaultyGateway
export let merchant: TestMerchant
export let client: ClientOptions
let driver: Driver

export function openWorld(sdk: Sdk) {
  beforeAll(async () => {
    gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
    faulty = await openFaultyGateway(gateway.url)
    merchant = await gateway.addMerchant()
    client = clientOf(merchant)
    driver = startDriver(sdk)
  })
  afterAll(async () => {
    await driver.stop()
    faulty.close()
    await gateway.stop()
  })
}

export const clientOf = ({ test: keys }: TestMerchant): ClientOptions => ({
  base_url: gateway.url,
  merchant_key: keys.merchant_key,
  merchant_secret: keys.secret_key,
  ipn_secret: keys.ipn_secret,
  timeout: 5,
  backoff: 0.01,
})

// Runs a verb of the SDK for any client.
export const run: Driver['run'] = (...call) => driver.run(...call)

export async function resultOf(op: string, ...args: unknown[]) {
  const { result, error } = await run(op, client, ...args)
  expect(error).toBeUndefined()
  return result
}

export const errorOf = async (op: string, ...args: unknown[]) => (await run(op, client, ...args)).error
