import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import type { Mode } from '../../src/core/mode.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { openDeliveries } from '../../src/start/deliveries.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { sql } from '../../src/store/db.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { storeNotification } from '../support/deliveries/notifications.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
let receiver: Receiver // on this machine, as a developer's own shop is
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
  receiver = await openReceiver()
})
afterAll(async () => {
  await receiver.close()
  await shop.stop()
})

// The result of the first try to notify an address of this machine.
async function notify(env: Record<string, string>, embedded: boolean, mode: Mode) {
  const { merchant_id } = merchant
  const to = { url: `${receiver.url}/ipn`, lane: receiver.url, style: 'post' } as const
  const { tx_reference } = await storeNotification(shop.db, { merchant_id, mode }, to)
  const masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
  const dispatch = openDeliveries(
    readConfig(env),
    { db: shop.db, masterKeys, embedded },
    { localWorkers: {}, clock: () => new Date(), metrics: createMetrics(), log: pino({ level: 'silent' }) },
  )
  const resultOf = async () => {
    const found = await shop.db.one<{ last_result: string | null }>(
      sql`select last_result from deliveries where tx_reference = ${tx_reference}`,
    )
    return found?.last_result ?? null
  }
  await expect.poll(resultOf, { timeout: 20_000 }).not.toBeNull()
  await dispatch.stop()
  return [await resultOf(), receiver.of(tx_reference).length]
}

const arrives = ['acknowledged', 1]
const isForbidden = ['forbidden_address', 0]

for (const [what, env, embedded, mode, expected] of [
  ['a newcomer who just started it', {}, true, 'test', arrives],
  ['the same by the name of loopback', { HOST: 'localhost' }, true, 'test', arrives],
  ['the same with a live payment', {}, true, 'live', isForbidden],
  ['a database of its own', {}, false, 'test', isForbidden],
  ['a base address', { TOLLGATE_BASE_URL: 'https://pay.example' }, true, 'test', isForbidden],
  ['a proxy that is trusted', { TOLLGATE_TRUST_PROXY: '1' }, true, 'test', isForbidden],
  ['one that listens to everybody', { HOST: '0.0.0.0' }, true, 'test', isForbidden],
  [
    'an operator who wants it all the same',
    { HOST: '0.0.0.0', TOLLGATE_EGRESS_LOOPBACK: 'on' },
    false,
    'live',
    arrives,
  ],
  ['an operator who does not want it', { TOLLGATE_EGRESS_LOOPBACK: 'off' }, true, 'test', isForbidden],
] as const)
  test(`addresses of this machine, ${what}: ${expected[0]}`, async () =>
    expect(await notify(env, embedded, mode)).toEqual(expected))
