import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql } from '../../../src/store/db.ts'
import { lockRows } from '../../support/database/lockRows.ts'
import { after, noon, seconds, yes } from '../../support/payments/rows.ts'
import { addMany, allMessages, fakeMessenger, testSender } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let payments: Payment[]
beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  const merchants = [await shop.addMerchant('Ama Shop'), await shop.addMerchant('Kofi Shop')]
  payments = await Promise.all(merchants.map(async merchant => shop.try(await shop.ask(merchant), yes)))
})
afterAll(() => shop.stop())

const phone = (at: number) => `+23324123456${at}`

for (const [which, locked] of [
  ['oldest', 0],
  ['third', 2],
  ['newest', 5],
] as const)
  test(`the ${which} message is locked: all others are sent, and it is sent after the lock`, async () => {
    await shop.db.rows(sql`delete from messages`)
    for (let at = 0; at < 6; at++)
      await addMany(shop.db, payments[at % 2] as Payment, [phone(at)], after(seconds(at)))
    const sms = fakeMessenger('sms')
    const { sendAll } = testSender(shop.db, () => after(seconds(30)), [sms])
    const unlock = await lockRows(shop.url, 'select from messages where recipient = $1', [phone(locked)])
    try {
      expect(await sendAll()).toBe(5)
    } finally {
      await unlock()
    }
    expect(sms.sent.map(({ to }) => to)).not.toContain(phone(locked))
    expect(await sendAll()).toBe(1)
    expect(new Set((await allMessages(shop.db)).map(({ state }) => state))).toEqual(new Set(['sent']))
  })
