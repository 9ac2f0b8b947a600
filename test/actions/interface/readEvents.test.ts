import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents } from '../../../src/actions/interface/readEvents.ts'
import { rotateKey } from '../../../src/actions/merchants/credentials.ts'
import type { Mode } from '../../../src/core/mode.ts'
import { notificationId } from '../../../src/core/notification/notification.ts'
import { createRateLimits } from '../../../src/runtime/rateLimits.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { numberFeed } from '../../../src/store/notifications/feed.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes } from '../../support/payments/rows.ts'
import {
  feedQuestion,
  feedSignature,
  newReference,
  storeNotification,
} from '../../support/deliveries/notifications.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { random } from '../../support/random.ts'

const address = '127.0.0.1'
const monthAgo = after(-hours(24 * 30), new Date())

let shop: TestShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

type Keys = TestMerchant['test']
function ask(keys: Keys, cursor?: string, limit?: number) {
  const question = feedQuestion(keys, cursor, limit)
  return readEvents(shop.runtime, question, feedSignature(keys, question, shop.runtime.clock()), address)
}

// Everything that is there, page by page.
async function follow(keys: Keys, limit: number, from = '') {
  const seen: string[] = []
  for (let cursor = from, more = true; more; ) {
    const page = await ask(keys, cursor, limit)
    expect(page.events.length).toBeLessThanOrEqual(limit)
    seen.push(...page.events.map(notificationId))
    cursor = String(page.next)
    more = page.more
  }
  return seen
}

describe('while many write and many read', () => {
  const writers = 8
  const each = 60
  let merchant: TestMerchant
  let theirs: Db

  beforeAll(async () => {
    merchant = await shop.addMerchant()
    theirs = openDb(shop.url, writers)
  })
  afterAll(() => theirs.end())

  // A real transaction that stays open for a while, so that those begun first often commit last; some never do.
  async function write(mode: Mode): Promise<string | undefined> {
    try {
      return await theirs.transaction(async tx => {
        const made = await storeNotification(tx, { merchant_id: merchant.merchant_id, mode })
        await sleep(random() * 40)
        if (random() < 0.1) throw new Error('changed its mind')
        return notificationId(made)
      })
    } catch {
      return undefined
    }
  }

  test('every reader sees every committed event once, and all see the same order', async () => {
    const committed: Record<Mode, string[]> = { test: [], live: [] }
    let writing = true
    const reading = [1, 3, 7, 50, 500].map(async limit => {
      const seen: string[] = []
      for (let cursor = '', last = false; ; ) {
        const page = await ask(merchant.test, cursor, limit)
        seen.push(...page.events.map(notificationId))
        cursor = String(page.next)
        if (page.events.length === 0 && last) return seen
        last = !writing && !page.more
        if (!page.more) await sleep(random() * 15)
      }
    })
    await Promise.all(
      Array.from({ length: writers }, async (_, at) => {
        const mode = at === 0 ? 'live' : 'test'
        for (let count = 0; count < each; count++) {
          const id = await write(mode)
          if (id) committed[mode].push(id)
        }
      }),
    )
    writing = false
    const [first = [], ...others] = await Promise.all(reading)
    expect(committed.test.length).toBeGreaterThan(300)
    expect(new Set(first).size).toBe(first.length)
    expect([...first].sort()).toEqual([...committed.test].sort())
    for (const other of others) expect(other).toEqual(first)
    expect(await follow(merchant.test, 13)).toEqual(first)
    expect((await follow(merchant.live, 13)).sort()).toEqual([...committed.live].sort())
  })

  test('the numbers have no gaps', async () => {
    const rows = await shop.db.rows<{ position: bigint }>(sql`
      select position from notifications where merchant_id = ${merchant.merchant_id} and mode = 'test'
      order by position`)
    expect(rows.map(({ position }) => Number(position))).toEqual(rows.map((_, at) => at + 1))
  })
})

test('many at once before the first reading: numbered once, in the order of their time', async () => {
  const merchant = await shop.addMerchant()
  const { merchant_id } = merchant
  const made: string[] = []
  for (let count = 0; count < 30; count++)
    made.push(
      notificationId(
        await storeNotification(shop.db, {
          merchant_id,
          created_at: after(-minutes(60 - count), new Date()),
        }),
      ),
    )
  const readings = await Promise.all([1, 2, 5, 30, 500].map(limit => follow(merchant.test, limit)))
  for (const seen of readings) expect(seen).toEqual(made)
})

for (const atOnce of [1, 2, 100])
  test(`the events of a payment keep their order though clocks differ, numbered ${atOnce} at a time`, async () => {
    const merchant = await shop.addMerchant()
    const feed = { merchant_id: merchant.merchant_id, mode: 'test' as const }
    const tx_reference = newReference()
    const made: string[] = []
    for (const late of [30, 10, 20])
      made.push(
        notificationId(
          await storeNotification(shop.db, {
            ...feed,
            tx_reference,
            created_at: after(-minutes(60 - late), new Date()),
          }),
        ),
      )
    await storeNotification(shop.db, { ...feed, created_at: after(-minutes(45), new Date()) })
    for (let count = 0; count < 4; count++) await numberFeed(shop.db, feed, monthAgo, atOnce)
    const seen = await follow(merchant.test, 1)
    expect(seen).toHaveLength(4)
    expect(seen.filter(id => made.includes(id))).toEqual(made)
  })

test('a numbering that runs twice, its commit being lost, numbers nothing twice', async () => {
  const merchant = await shop.addMerchant()
  const feed = { merchant_id: merchant.merchant_id, mode: 'test' as const }
  for (let count = 0; count < 5; count++) await storeNotification(shop.db, feed)
  await numberFeed(shop.db, feed, monthAgo, 3)
  await numberFeed(shop.db, feed, monthAgo, 3)
  await numberFeed(shop.db, feed, monthAgo, 3)
  const { events, next, more } = await ask(merchant.test)
  expect([events.map(({ position }) => Number(position)), next, more]).toEqual([[1, 2, 3, 4, 5], 5n, false])
})

test('a request with the last cursor gets nothing until there is a new event', async () => {
  const merchant = await shop.addMerchant()
  const { merchant_id } = merchant
  expect(await ask(merchant.test)).toEqual({ merchant_id, events: [], next: 0n, more: false })
  expect(await ask(merchant.test, '0')).toMatchObject({ events: [], next: 0n })
  await storeNotification(shop.db, { merchant_id })
  expect(await ask(merchant.test, '0')).toMatchObject({ events: [{ position: 1n }], next: 1n })
  expect(await ask(merchant.test, '1')).toMatchObject({ events: [], next: 1n, more: false })
  await storeNotification(shop.db, { merchant_id, mode: 'live' })
  expect(await ask(merchant.test, '1')).toMatchObject({ events: [], next: 1n })
})

test('nothing new takes no lock', async () => {
  const merchant = await shop.addMerchant()
  const feed = { merchant_id: merchant.merchant_id, mode: 'test' as const }
  await storeNotification(shop.db, feed)
  await ask(merchant.test)
  await shop.db.transaction(async tx => {
    await tx.rows(sql`select from feeds where merchant_id = ${merchant.merchant_id} for update`)
    expect((await ask(merchant.test, '1')).events).toEqual([])
    expect((await ask(merchant.test)).events).toHaveLength(1)
  })
})

test('events older than 30 days are left out, and an older cursor continues with the oldest event left', async () => {
  const merchant = await shop.addMerchant()
  const { merchant_id } = merchant
  const made: string[] = []
  for (let days = 34; days > 28; days--)
    made.push(
      notificationId(
        await storeNotification(shop.db, {
          merchant_id,
          created_at: after(-hours(24 * days - 1), new Date()),
        }),
      ),
    )
  const neverRead = made.slice(4)
  expect(await follow(merchant.test, 100)).toEqual(neverRead)

  // The same after all of them were numbered in their time.
  const other = await shop.addMerchant()
  const feed = { merchant_id: other.merchant_id, mode: 'test' as const }
  const told: string[] = []
  for (let days = 34; days > 28; days--)
    told.push(
      notificationId(
        await storeNotification(shop.db, { ...feed, created_at: after(-hours(24 * days - 1), new Date()) }),
      ),
    )
  await numberFeed(shop.db, feed, new Date(0), 100)
  for (const cursor of ['', '0', '1', '3', '4']) {
    expect(await follow(other.test, 100, cursor)).toEqual(told.slice(4))
    expect(await follow(other.test, 1, cursor)).toEqual(told.slice(4))
  }
  expect(await follow(other.test, 1, '5')).toEqual(told.slice(5))
})

test('at the edge of the 30 days no younger event is left out, whatever the order of the times', async () => {
  const merchant = await shop.addMerchant()
  const feed = { merchant_id: merchant.merchant_id, mode: 'test' as const }
  const days = [34, 33, 29, 31, 28, 28.5, 32, 27]
  const told: string[] = []
  for (const count of days) {
    told.push(
      notificationId(
        await storeNotification(shop.db, { ...feed, created_at: after(-hours(24 * count), new Date()) }),
      ),
    )
    await numberFeed(shop.db, feed, new Date(0), 1)
  }
  const kept = told.filter((_, at) => (days[at] ?? 0) < 30)
  for (const limit of [1, 2, 3, 100]) expect(await follow(merchant.test, limit)).toEqual(kept)
  expect(await follow(merchant.test, 1, '3')).toEqual(kept.slice(1))
})

test('if all events are too old, the page is empty', async () => {
  const merchant = await shop.addMerchant()
  const feed = { merchant_id: merchant.merchant_id, mode: 'test' as const }
  await storeNotification(shop.db, { ...feed, created_at: after(-hours(24 * 31), new Date()) })
  expect(await ask(merchant.test)).toMatchObject({ events: [], next: 0n, more: false })
  await numberFeed(shop.db, feed, new Date(0), 100)
  expect(await ask(merchant.test)).toMatchObject({ events: [], next: 0n, more: false })
})

test('after a rotation both keys read the same events', async () => {
  const merchant = await shop.addMerchant()
  for (let count = 0; count < 3; count++)
    await storeNotification(shop.db, { merchant_id: merchant.merchant_id })
  const masterKeys = givenMasterKeys([Buffer.from(shop.env.TOLLGATE_MASTER_KEY, 'hex')])
  const fresh = await rotateKey(shop.db, masterKeys, merchant.merchant_id, 'test', hours(1), new Date())
  const [old, young] = [await ask(merchant.test), await ask({ ...merchant.test, ...fresh })]
  expect(old.events).toHaveLength(3)
  expect(young).toEqual(old)
  expect((await ask({ ...merchant.test, ...fresh }, String(old.next))).events).toEqual([])
})

test('an address has a hundred guesses, and signed requests from it still work', async () => {
  const { test: keys } = await shop.addMerchant()
  const runtime = { ...shop.runtime, limits: createRateLimits(() => 0) }
  const question = feedQuestion(keys)
  const right = feedSignature(keys, question, runtime.clock())
  const forged = right.replace(/v1=.*/, `v1=${'1'.repeat(64)}`)
  const ended = await Promise.allSettled(
    Array.from({ length: 150 }, () => readEvents(runtime, question, forged, address)),
  )
  const codes = ended.map(one => (one as PromiseRejectedResult).reason.http)
  expect([codes.filter(http => http === 401).length, codes.filter(http => http === 429).length]).toEqual([
    100, 50,
  ])
  expect(await readEvents(runtime, question, right, address)).toMatchObject({ events: [] })
})
