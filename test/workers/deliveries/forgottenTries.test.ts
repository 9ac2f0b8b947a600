import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { sql } from '../../../src/store/db.ts'
import type { LeasedDelivery } from '../../../src/store/notifications/deliveries.ts'
import { forgetTries, triesOf } from '../../../src/store/notifications/tries.ts'
import { forgetOldTries } from '../../../src/workers/deliveries/worker.ts'
import { after, hours, seconds } from '../../support/payments/rows.ts'
import { fakeOutbound, acknowledge } from './answers.ts'
import { type ManualWorker, createManualWorker, tryOf } from './manualWorker.ts'
import { dispatchAll, useDeliveryFixture } from './fixture.ts'

const fixture = useDeliveryFixture(1)
let worker: ManualWorker
let key: NotificationKey
beforeAll(() => void (worker = createManualWorker(fixture)))
beforeEach(async () => void (key = await worker.notify()))

const days = (count: number) => hours(24 * count)

const kept = ({ last_result, last_try_at, acknowledged_at, exhausted_at, tries }: Delivery) => ({
  last_result,
  last_try_at,
  acknowledged_at,
  exhausted_at,
  tries,
})

describe('after 30 days', () => {
  test('all tries of a delivery are removed, and its result stays', async () => {
    await worker.save(worker.finishedTry(await worker.takeOne(key), worker.failed()))
    fixture.pass(seconds(10))
    await worker.save(worker.finishedTry(await worker.takeOne(key), worker.acknowledged()))
    const before = kept(await worker.find(key))
    expect(await forgetOldTries(fixture.db, after(days(30)))).toBe(0)
    expect(await worker.tryNumbers(key)).toEqual([1, 2])
    expect(await forgetOldTries(fixture.db, after(days(30) + 1))).toBe(1) // the first one started at noon
    expect(await worker.tryNumbers(key)).toEqual([2])
    expect(await forgetOldTries(fixture.db, after(days(30) + seconds(10) + 1))).toBe(1)
    expect(await forgetOldTries(fixture.db, after(days(30) + seconds(10) + 1))).toBe(0)
    expect(await triesOf(fixture.db, key)).toEqual([])
    expect(before).toMatchObject({ last_result: 'acknowledged', last_try_at: after(seconds(10)), tries: 2 })
    expect(kept(await worker.find(key))).toEqual(before)
    expect(
      await fixture.db.one(sql`
      select last_try, last_ms, last_address, last_status, last_words, last_answer from deliveries`),
    ).toEqual({
      last_try: null,
      last_ms: null,
      last_address: null,
      last_status: null,
      last_words: null,
      last_answer: null,
    })
  })

  test('younger tries stay', async () => {
    await worker.save(worker.finishedTry(await worker.takeOne(key), worker.acknowledged()))
    fixture.pass(days(20))
    const young = await worker.notify()
    const tried = worker.finishedTry((await worker.take(young))[0] as LeasedDelivery, worker.acknowledged())
    await worker.save(tried)
    expect(await forgetOldTries(fixture.db, after(days(31)))).toBe(1)
    expect([await triesOf(fixture.db, key), await triesOf(fixture.db, young)]).toEqual([[], [tryOf(tried)]])
  })

  test('tries are removed in batches, until there are none', async () => {
    const keys = [key]
    while (keys.length < 7) keys.push(await worker.notify())
    await worker.save(
      ...(await worker.take(...keys)).map(taken => worker.finishedTry(taken, worker.failed())),
    )
    fixture.pass(seconds(10))
    await worker.save(
      ...(await worker.take(...keys.slice(0, 5))).map(taken =>
        worker.finishedTry(taken, worker.acknowledged()),
      ),
    )
    const counts: number[] = []
    do counts.push(await forgetTries(fixture.db, after(days(1)), 3))
    while (counts.at(-1) !== 0)
    expect(counts).toEqual([6, 5, 1, 0]) // 5 earlier tries and 7 last tries, by threes
    for (const one of keys) expect(await triesOf(fixture.db, one)).toEqual([])
  })

  test('after a redelivery the log begins with the new try', async () => {
    const dispatcher = fixture.dispatcher(fakeOutbound(acknowledge))
    await dispatchAll(dispatcher)
    fixture.pass(days(31))
    await forgetOldTries(fixture.db, fixture.clock())
    await redeliver(fixture.db, key, fixture.clock())
    await dispatchAll(dispatcher)
    expect(await triesOf(fixture.db, key)).toMatchObject([{ try: 2, started_at: after(days(31)) }])
    expect(await worker.countEarlierTries()).toBe(0)
  })
})
