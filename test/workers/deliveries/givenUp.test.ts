import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { sql } from '../../../src/store/db.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { type Clerk, createClerk } from './clerk.ts'
import { openPost, type Post } from './post.ts'

let post: Post
let clerk: Clerk
let key: NotificationKey
beforeAll(async () => {
  post = await openPost(2)
  clerk = createClerk(post)
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries, messages`)
  post.setNow(noon)
  key = await clerk.tell()
})
afterAll(() => post.close())

const days = (count: number) => hours(24 * count)

describe('the contact of the merchant hears that a notification was given up', () => {
  test('once, when that was accepted', async () => {
    const tried = clerk.triedOf(await clerk.takeOne(key), clerk.noMore(), 'dev@shop.example')
    expect(await clerk.notices()).toEqual([])
    await clerk.save(tried)
    await clerk.save(tried)
    expect(await clerk.notices()).toEqual(['dev@shop.example'])
  })

  test('of others in the same commit it is the one who has lost its lease that is not heard of', async () => {
    const kofi = await clerk.tell(post.ids[1])
    const late = await clerk.take(key, kofi)
    post.pass(seconds(31))
    await clerk.take(kofi)
    await clerk.save(
      ...late.map(taken => clerk.triedOf(taken, clerk.noMore(), `dev@${taken.merchant_id}.example`)),
    )
    expect(await clerk.notices()).toEqual([`dev@${key.merchant_id}.example`])
    expect([await clerk.find(key), await clerk.find(kofi)]).toMatchObject([
      { exhausted_at: after(seconds(31)) },
      { exhausted_at: null },
    ])
    expect([await clerk.numbersOf(key), await clerk.numbersOf(kofi)]).toEqual([[1], [1]])
  })

  test('not a day later, by a worker that had lost its lease long before', async () => {
    const late = await clerk.takeOne(key)
    post.pass(seconds(31))
    await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.noMore(), 'dev@shop.example'))
    post.pass(days(1)) // there is one mail a day
    await clerk.save(clerk.triedOf(late, clerk.noMore(), 'dev@shop.example'))
    expect([await clerk.notices(), await clerk.numbersOf(key)]).toEqual([['dev@shop.example'], [1, 2]])
  })

  test('not, when there is no contact', async () => {
    await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.noMore()))
    expect([await clerk.notices(), (await clerk.find(key)).exhausted_at]).toEqual([[], noon])
  })
})
