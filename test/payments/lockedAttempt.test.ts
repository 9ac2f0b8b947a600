import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { lockRows } from '../support/database/lockRows.ts'
import { after, minutes, noon, seconds, unclear } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

const fail = (error: unknown) => expect(error).toBeUndefined()

// Three of each of two merchants, a second apart.
async function sixAttempts() {
  const payments: Payment[] = []
  const merchants = [await shop.addMerchant('Ama Shop'), await shop.addMerchant('Kofi Shop')]
  for (let at = 0; at < 6; at++) {
    shop.setNow(after(seconds(at)))
    const merchant = merchants[at % 2]
    if (merchant) payments.push(await shop.try(await shop.ask(merchant), unclear))
  }
  return payments
}

const asksOf = async ({ merchant_id, tx_reference }: Payment) =>
  (await attemptsOf(shop.db, merchant_id, tx_reference))[0]?.polls

for (const [which, held] of [
  ['oldest', 0],
  ['third', 2],
  ['newest', 5],
] as const)
  test(`somebody holds the ${which} attempt: all others are asked about, and it when it is let go`, async () => {
    shop.setNow(noon)
    await shop.db.rows(sql`delete from attempts`)
    const payments = await sixAttempts()
    const { merchant_id, tx_reference } = payments[held] as Payment
    const letGo = await lockRows(
      shop.url,
      'select from attempts where merchant_id = $1 and tx_reference = $2',
      [merchant_id, tx_reference],
    )
    shop.setNow(after(minutes(1)))
    try {
      expect(await pollDue(shop.runtime, fail)).toBe(5)
      expect(await Promise.all(payments.map(asksOf))).toEqual(payments.map((_, at) => (at === held ? 0 : 1)))
    } finally {
      await letGo()
    }
    expect(await pollDue(shop.runtime, fail)).toBe(1)
    expect(await Promise.all(payments.map(asksOf))).toEqual([1, 1, 1, 1, 1, 1])
  })
