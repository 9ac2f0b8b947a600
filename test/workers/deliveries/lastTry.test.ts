import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { HttpOutcome } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { triesOf } from '../../../src/store/notifications/tries.ts'
import type { FinishedTry } from '../../../src/workers/deliveries/tries.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, fails, playedOutbound, says, thanks } from './answers.ts'
import { type Clerk, createClerk, saveOn, tryOf } from './clerk.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

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

describe('the log of a delivery', () => {
  test('acknowledged at once: its try stands in its row alone, with all that is known of it', async () => {
    const answer: HttpOutcome = { ...thanks(), ms: 34.4, body: Buffer.of(0, 255, 10), address: '2001:db8::7' }
    await carryAll(post.dispatcher(playedOutbound(() => answer)))
    expect(await clerk.earlier()).toBe(0)
    expect(await triesOf(post.db, key)).toEqual([
      {
        ...key,
        try: 1,
        started_at: noon,
        ms: 34,
        address: '2001:db8::7',
        status: 200,
        result: 'acknowledged',
        words: '',
        answer: Buffer.of(0, 255, 10),
      },
    ])
  })

  test('three failures, then 200: four in order, each with its own, three of them moved', async () => {
    const answers: HttpOutcome[] = [
      { ...fails('timeout'), ms: 10_000, error: 'no answer within 10 s' },
      { ...says(404), ms: 1, body: Buffer.alloc(0) },
      { ...says(503), ms: 2, body: null, error: 'said "no" \\ and {left}' },
      { ...thanks(), ms: 3, body: Buffer.from('{"ok":true}') },
    ]
    const dispatcher = post.dispatcher(playedOutbound(() => answers[started.length - 1] as HttpOutcome))
    const started: Date[] = []
    for (const pass of [0, 15, 45, 90]) {
      post.pass(seconds(pass))
      started.push(post.clock())
      await carryAll(dispatcher)
    }
    expect(await clerk.earlier()).toBe(3)
    const common = { ...key, address: '192.0.2.7', words: '' }
    expect(await triesOf(post.db, key)).toEqual(
      [
        {
          ...common,
          ms: 10_000,
          address: null,
          status: null,
          result: 'timeout',
          words: answers[0]?.error,
          answer: null,
        },
        { ...common, ms: 1, status: 404, result: 'refused', answer: Buffer.alloc(0) },
        { ...common, ms: 2, status: 503, result: 'server_error', words: answers[2]?.error, answer: null },
        { ...common, ms: 3, status: 200, result: 'acknowledged', answer: Buffer.from('{"ok":true}') },
      ].map((one, at) => ({ ...one, try: at + 1, started_at: started[at] })),
    )
    expect(await clerk.find(key)).toMatchObject({
      last_try: 4,
      last_result: 'acknowledged',
      next_try_at: null,
      tries: 4,
    })
  })

  test('sent again by hand after it was acknowledged: the old try moves when the new one is written', async () => {
    const dispatcher = post.dispatcher(playedOutbound(thanks))
    await carryAll(dispatcher)
    post.pass(hours(1))
    await redeliver(post.db, key, post.clock())
    expect([await clerk.earlier(), await clerk.numbersOf(key)]).toEqual([0, [1]])
    await carryAll(dispatcher)
    expect([await clerk.earlier(), await clerk.numbersOf(key)]).toEqual([1, [1, 2]])
    expect((await triesOf(post.db, key)).map(one => one.started_at)).toEqual([noon, after(hours(1))])
  })

  test('many in one commit, of every kind: to each its own', async () => {
    const keys = [key]
    while (keys.length < 12) keys.push(await clerk.tell(post.ids[keys.length % 2]))
    const first = (await clerk.take(...keys)).map((taken, at) =>
      clerk.triedOf(taken, at % 3 === 0 ? clerk.yes() : clerk.no()),
    )
    await clerk.save(...first)
    post.pass(seconds(20))
    const second = (await clerk.take(...keys)).map((taken, at) =>
      clerk.triedOf(taken, at % 2 === 0 ? clerk.yes() : clerk.noMore()),
    )
    await clerk.save(...second)
    expect([first.length, second.length, await clerk.earlier()]).toEqual([12, 8, 8])
    for (const one of keys) {
      const expected = [...first, ...second]
        .map(tryOf)
        .filter(tried => tried.tx_reference === one.tx_reference)
      expect(await triesOf(post.db, one)).toEqual(expected)
    }
  })
})

describe('a worker that has lost its lease', () => {
  for (const [what, ending] of [
    ['yes', 'yes'],
    ['no', 'no'],
    ['an end', 'noMore'],
  ] as const)
    for (const [when, isSaved] of [
      ['while the other is at it', false],
      ['when the other is done', true],
    ] as const)
      test(`brings ${what} ${when}: its try is in the log, once, and nothing else of it`, async () => {
        const late = await clerk.takeOne(key)
        post.pass(seconds(31))
        const other = clerk.triedOf(await clerk.takeOne(key), clerk.no())
        if (isSaved) await clerk.save(other)
        const before = await clerk.find(key)
        const lost = clerk.triedOf(late, clerk[ending](), 'dev@shop.example')
        await clerk.save(lost)
        await clerk.save(lost)
        expect(await clerk.find(key)).toEqual(before)
        if (!isSaved) await clerk.save(other)
        expect(await triesOf(post.db, key)).toEqual([tryOf(lost), tryOf(other)])
        expect([await clerk.earlier(), await clerk.notices()]).toEqual([1, []])
      })

  test('by real dispatchers: once too', async () => {
    const monitor = createGateKeeper()
    const [away, other] = [
      post.dispatcher(playedOutbound(monitor.hold)),
      post.dispatcher(playedOutbound(() => says(500))),
    ]
    await stepUntilRest(away, monitor)
    post.pass(seconds(31))
    await carryAll(other)
    monitor.letGo()
    await away.finished()
    expect(await triesOf(post.db, key)).toMatchObject([
      { try: 1, status: 200, started_at: noon },
      { try: 2, status: 500, started_at: after(seconds(31)) },
    ])
    expect(await clerk.find(key)).toMatchObject({
      acknowledged_at: null,
      last_try: 2,
      last_result: 'server_error',
    })
  })

  test('to a delivery by hand: that one is not ended by it', async () => {
    const late = clerk.triedOf(await clerk.takeOne(key), clerk.yes())
    post.pass(seconds(31))
    await redeliver(post.db, key, post.clock())
    const before = await clerk.find(key)
    await clerk.save(late)
    expect([await clerk.find(key), await clerk.numbersOf(key)]).toEqual([before, [1]])
  })

  // Between moving the old try and taking the new one in, another worker comes.
  for (const [who, comes] of [
    ['another worker', () => clerk.takeOne(key)],
    ['a delivery by hand', () => redeliver(post.db, key, post.clock())],
  ] as const)
    test(`in the very moment in which it writes, to ${who}: each try is in the log once`, async () => {
      await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.no()))
      post.pass(seconds(10))
      const late = clerk.triedOf(await clerk.takeOne(key), clerk.no())
      post.pass(seconds(31))
      let coming: Promise<unknown> = Promise.resolve()
      const interrupted = beforeCount(async () => {
        let isDone = false
        coming = comes().finally(() => void (isDone = true))
        await until(async () => isDone || (await isSomeoneWaiting()))
      })
      await saveOn(interrupted, late)
      await coming
      expect(await clerk.numbersOf(key)).toEqual([1, 2])
    })
})

const isSomeoneWaiting = async () =>
  (
    await post.db.rows(sql`select from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock'`)
  ).length > 0

// A database in whose transactions something happens before rows are changed and counted.
const beforeCount = (happens: () => Promise<void>): Db => ({
  ...post.db,
  locks: { strategy: { state: 'untested' } }, // so that it uses transactions
  transaction: work =>
    post.db.transaction(tx => {
      const count: Tx['count'] = async query => {
        await happens()
        return tx.count(query)
      }
      return work({ ...tx, count })
    }),
})

describe('the same outcome twice, because the first commit was not heard of', () => {
  for (const [what, ending] of [
    ['a yes', 'yes'],
    ['a no', 'no'],
    ['an end', 'noMore'],
  ] as const)
    for (const before of [0, 2])
      test(`${what} after ${before} failures: its try is there once, and the delivery stays`, async () => {
        for (let at = 0; at < before; at++) {
          await clerk.save(clerk.triedOf(await clerk.takeOne(key), clerk.no()))
          post.pass(seconds(10))
        }
        const tried = clerk.triedOf(await clerk.takeOne(key), clerk[ending](), 'dev@shop.example')
        await clerk.save(tried)
        const once = [await clerk.find(key), await triesOf(post.db, key), await clerk.notices()]
        await clerk.save(tried)
        await clerk.save(tried, tried)
        expect([await clerk.find(key), await triesOf(post.db, key), await clerk.notices()]).toEqual(once)
        expect(await clerk.numbersOf(key)).toEqual(Array.from({ length: before + 1 }, (_, at) => at + 1))
        expect(await clerk.earlier()).toBe(before)
      })

  for (const [what, ending] of [
    ['a yes', 'yes'],
    ['a no', 'no'],
  ] as const)
    test(`${what}, and meanwhile the next try has been written`, async () => {
      const tried = clerk.triedOf(await clerk.takeOne(key), clerk[ending]())
      await clerk.save(tried)
      post.pass(seconds(10))
      await redeliver(post.db, key, post.clock())
      const next = clerk.triedOf(await clerk.takeOne(key), clerk.yes())
      await clerk.save(next)
      const before = await clerk.find(key)
      await clerk.save(tried)
      expect(await triesOf(post.db, key)).toEqual([tryOf(tried), tryOf(next)])
      expect(await clerk.find(key)).toEqual(before)
    })

  test('one that was heard beside one that was not, in one commit', async () => {
    const other = await clerk.tell()
    const [first, second] = (await clerk.take(key, other)).map(taken =>
      clerk.triedOf(taken, clerk.yes()),
    ) as [FinishedTry, FinishedTry]
    await clerk.save(first)
    await clerk.save(first, second)
    expect([await triesOf(post.db, key), await triesOf(post.db, other)]).toEqual(
      [first, second]
        .map(tried => [tryOf(tried)])
        .toSorted(([a]) => (a?.tx_reference === key.tx_reference ? -1 : 1)),
    )
    expect(await clerk.earlier()).toBe(0)
  })
})
