import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sentNotificationsOf } from '../../../src/actions/notifications/findNotifications.ts'
import { missingTries } from '../../../src/core/notification/delivery.ts'
import { sql } from '../../../src/store/db.ts'
import { destination, storeNotification } from '../../support/deliveries/notifications.ts'
import { after, noon, seconds } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

const readingMs = 300 // by then every statement that is not locked out has answered

let shop: TestShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

test('a try whose result is saved while it is read is not reported as lost', async () => {
  const { merchant_id } = await shop.addMerchant()
  const key = await storeNotification(shop.db, { merchant_id, created_at: noon }, destination)
  await shop.db.rows(sql`
    update deliveries set tries = 1, lease_token = 'x', lease_until = ${after(seconds(30))}
    where merchant_id = ${merchant_id} and tx_reference = ${key.tx_reference}`)
  // The lock delays the read of the notifications until the result is committed.
  const reading = await shop.db.transaction(async tx => {
    await tx.rows(sql`lock table notifications in access exclusive mode`)
    const found = sentNotificationsOf(shop.db, key)
    await sleep(readingMs)
    await tx.rows(sql`
      update deliveries set lease_token = null, lease_until = null, next_try_at = null, acknowledged_at = ${noon},
        last_try = 1, last_try_at = ${noon}, last_ms = 5, last_status = 200, last_result = 'acknowledged',
        last_words = ''
      where merchant_id = ${merchant_id} and tx_reference = ${key.tx_reference}`)
    return { found }
  })
  const [one] = await reading.found
  expect(one).toMatchObject({ tries: 1, lease_until: null })
  if (!one) return
  const stored = one.storedTries.map(({ try: number }) => number)
  expect(missingTries(one, stored, after(seconds(1)))).toEqual({ lost: [], forgotten: [] })
})
