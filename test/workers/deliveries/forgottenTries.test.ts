import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { sql } from '../../../src/store/db.ts'
import type { LeasedDelivery } from '../../../src/store/notifications/deliveries.ts'
import { forgetTries, triesOf } from '../../../src/store/notifications/tries.ts'
import { forgetOldTries } from '../../../src/workers/deliveries/worker.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { playedOutbound, thanks } from './answers.ts'
import { type Clerk, createClerk, tryOf } from './clerk.ts'
import { carryAll, openPost, type Post } from './post.ts'

let post: Post
let clerk: Clerk
let key: NotificationKey
beforeAll(async () => {
  post = await openPost(1)
  clerk = createClerk(post)
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries, messages`)
  post.setNow(noon)
  key = await clerk.tell()
})
afterAll(() => post.close())

const days = (count: number) => hours(24 * count)

const kept = ({ last_result, last_try_at, acknowledged_at, exhausted_at, tries }: Delivery) => ({
  last_result,
  last_try_at,
  acknowledged_at,
  exhausted_at,
  tries,
})

describe('after 30 days', () => {
  test('all tries of a delivery are forgotten, and not how it ended', async () => {
    await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.no()))
    post.pass(seconds(10))
    await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.yes()))
    const before = kept(await clerk.find(key))
    expect(await forgetOldTries(post.db, after(days(30)))).toBe(0)
    expect(await clerk.numbersOf(key)).toEqual([1, 2])
    expect(await forgetOldTries(post.db, after(days(30) + 1))).toBe(1) // the first one started at noon
    expect(await clerk.numbersOf(key)).toEqual([2])
    expect(await forgetOldTries(post.db, after(days(30) + seconds(10) + 1))).toBe(1)
    expect(await forgetOldTries(post.db, after(days(30) + seconds(10) + 1))).toBe(0)
    expect(await triesOf(post.db, key)).toEqual([])
    expect(before).toMatchObject({ last_result: 'acknowledged', last_try_at: after(seconds(10)), tries: 2 })
    expect(kept(await clerk.find(key))).toEqual(before)
    expect(
      await post.db.one(sql`
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

  test('those that are younger stay', async () => {
    await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.yes()))
    post.pass(days(20))
    const young = await clerk.tell()
    const tried = clerk.triedOf((await clerk.take(young))[0] as LeasedDelivery, clerk.yes())
    await clerk.save(tried)
    expect(await forgetOldTries(post.db, after(days(31)))).toBe(1)
    expect([await triesOf(post.db, key), await triesOf(post.db, young)]).toEqual([[], [tryOf(tried)]])
  })

  test('a few at a time, until there are none', async () => {
    const keys = [key]
    while (keys.length < 7) keys.push(await clerk.tell())
    await clerk.save(...(await clerk.take(...keys)).map(taken => clerk.triedOf(taken, clerk.no())))
    post.pass(seconds(10))
    await clerk.save(
      ...(await clerk.take(...keys.slice(0, 5))).map(taken => clerk.triedOf(taken, clerk.yes())),
    )
    const counts: number[] = []
    do counts.push(await forgetTries(post.db, after(days(1)), 3))
    while (counts.at(-1) !== 0)
    expect(counts).toEqual([6, 5, 1, 0]) // 5 that were moved and 7 that were the last, by threes
    for (const one of keys) expect(await triesOf(post.db, one)).toEqual([])
  })

  test('sent again by hand: the log begins with the new try', async () => {
    const dispatcher = post.dispatcher(playedOutbound(thanks))
    await carryAll(dispatcher)
    post.pass(days(31))
    await forgetOldTries(post.db, post.clock())
    await redeliver(post.db, key, post.clock())
    await carryAll(dispatcher)
    expect(await triesOf(post.db, key)).toMatchObject([{ try: 2, started_at: after(days(31)) }])
    expect(await clerk.earlier()).toBe(0)
  })
})
