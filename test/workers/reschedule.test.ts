import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import { furthestPollMs } from '../../src/core/payment/pollSchedule.ts'
import { reschedule } from '../../src/runtime/reschedule.ts'
import { sql } from '../../src/store/db.ts'
import { startWorkers } from '../../src/workers/payments.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { after, hours, minutes, no, noon, pending, seconds } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Ama Shop', 'ipn_url=https://shop.example/ipn')
})
beforeEach(async () => {
  shop.setNow(noon)
  await shop.db.rows(sql`truncate payments, attempts, deliveries, notifications cascade`)
})
afterAll(() => shop.stop())

const fail = (error: unknown) => {
  throw error
}
const theAttempt = () => shop.db.one<Attempt>(sql`select * from attempts`)

test('the database clock is set back by an hour: attempts that were postponed before are polled at once', async () => {
  await shop.try(await shop.ask(merchant), pending)
  shop.setNow(after(-hours(1)))
  const workers = startWorkers(shop.runtime, { trouble: fail })
  await expect.poll(async () => (await theAttempt())?.polls).toBe(1)
  await workers.stop()
})

// The polling schedule postpones at most this far.
for (const [reply, furthest] of [
  [pending, furthestPollMs.unresolved],
  [no, furthestPollMs.ended],
] as const)
  for (const [ahead, isBrought] of [
    [furthest, false],
    [furthest + 1, true],
  ] as const)
    test(`${reply.state}, and due in ${ahead} ms: ${isBrought ? 'rescheduled' : 'not changed'}`, async () => {
      await shop.try(await shop.ask(merchant), reply)
      await shop.db.rows(sql`update attempts set next_poll_at = ${after(ahead)}`)
      await reschedule(shop.runtime, fail)
      expect((await theAttempt())?.next_poll_at).toEqual(isBrought ? noon : after(ahead))
    })

test('a notification from a clock that was ahead is sent now, by a new schedule; one in flight ends first', async () => {
  await shop.try(await shop.ask(merchant), no)
  const deliveries = () => shop.db.rows(sql`select begun_at, next_try_at, lease_until from deliveries`)
  for (const lease of [null, after(seconds(30))]) {
    await shop.db.rows(
      sql`update deliveries set lease_until = ${lease}, begun_at = ${noon}, next_try_at = ${noon}`,
    )
    shop.setNow(after(-minutes(1)))
    await reschedule(shop.runtime, fail)
    expect(await deliveries()).toEqual([{ begun_at: noon, next_try_at: noon, lease_until: lease }])
    const now = after(-hours(1))
    shop.setNow(now)
    await reschedule(shop.runtime, fail)
    expect(await deliveries()).toEqual([
      { begun_at: now, next_try_at: now, lease_until: lease && after(seconds(30), now) },
    ])
  }
})

test('a locked row is rescheduled later, and delays no other row', async () => {
  for (const _ of [1, 2, 3]) await shop.try(await shop.ask(merchant), pending)
  shop.setNow(after(-hours(1)))
  const troubles: unknown[] = []
  await shop.db.transaction(async tx => {
    await tx.rows(sql`select * from attempts order by attempt_id limit 1 for update`)
    await reschedule(shop.runtime, error => void troubles.push(error))
  })
  const ahead = await shop.db.rows(sql`select from attempts where next_poll_at > ${after(-hours(1))}`)
  expect([troubles.length, ahead.length]).toEqual([1, 1])
})
