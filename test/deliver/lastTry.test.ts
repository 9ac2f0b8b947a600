import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { forgetOldTries } from '../../src/actions/forgetOldTries.ts'
import { redeliver } from '../../src/actions/redeliver.ts'
import { createTriedLog } from '../../src/actions/saveTried.ts'
import type { Tried } from '../../src/actions/sendTry.ts'
import type { Answer, Delivery } from '../../src/core/delivery.ts'
import type { NotificationKey } from '../../src/core/notification.ts'
import { type Db, sql, type Tx } from '../../src/store/db.ts'
import { type Taken, takeAlone } from '../../src/store/deliveries.ts'
import type { Outcome } from '../../src/store/outcomes.ts'
import { forgetTries, type Try, triesOf } from '../../src/store/tries.ts'
import { after, hours, noon, seconds } from '../support/lifeRows.ts'
import { createGateKeeper, fails, playedOutbound, says, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

let post: Post
let ama: string
let key: NotificationKey
beforeAll(async () => void (post = await openPost(2)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries, messages`)
  post.setNow(noon)
  ama = post.ids[0] as string
  key = await tell()
})
afterAll(() => post.close())

const days = (count: number) => hours(24 * count)

const tell = async (merchant_id = ama): Promise<NotificationKey> => ({
  merchant_id,
  tx_reference: await post.tell({ merchant_id }),
  sequence: 1,
})
const find = async ({ tx_reference }: NotificationKey = key) =>
  (await post.deliveries()).find(one => one.tx_reference === tx_reference) as Delivery
const earlier = async () => (await post.db.rows(sql`select from tries`)).length
const numbersOf = async (of = key) => (await triesOf(post.db, of)).map(one => one.try)
const notices = async () =>
  (await post.db.rows<{ recipient: string }>(sql`select recipient from messages`)).map(one => one.recipient)

// As a worker takes it and writes down what came of it, a step at a time.
let tokens = 0
async function take(...keys: NotificationKey[]): Promise<Taken[]> {
  const now = post.clock()
  return takeAlone(post.db, keys, { token: `token ${++tokens}`, until: after(seconds(30), now), now })
}
const takeOne = async () => (await take(key))[0] as Taken

const yes = (): Partial<Outcome> => ({
  next_try_at: null,
  acknowledged_at: post.clock(),
  status: 200,
  result: 'acknowledged',
  words: '',
})
const no = (): Partial<Outcome> => ({ next_try_at: after(seconds(10), post.clock()) })
const noMore = (): Partial<Outcome> => ({ next_try_at: null, exhausted_at: post.clock() })

function triedOf(taken: Taken, ending: Partial<Outcome>, contact_email: string | null = null): Tried {
  const outcome: Outcome = {
    merchant_id: taken.merchant_id,
    tx_reference: taken.tx_reference,
    sequence: taken.sequence,
    lease_token: taken.lease_token,
    next_try_at: null,
    acknowledged_at: null,
    exhausted_at: null,
    try: taken.tries,
    started_at: post.clock(),
    ms: 100 + taken.tries,
    address: '192.0.2.7',
    status: 500,
    result: 'server_error',
    words: 'in pieces',
    answer: Buffer.of(0, taken.tries, 255),
    ...ending,
  }
  return { mode: taken.mode, outcome, contact_email, first_byte_at: null }
}
const save = (...tried: Tried[]) => saveOn(post.db, ...tried)
async function saveOn(db: Db, ...tried: Tried[]) {
  const log = createTriedLog(db)
  await Promise.all(tried.map(one => log.add(one)))
}

// Only what a try is, of all that its outcome says.
const tryOf = ({ outcome }: Tried): Try => ({
  merchant_id: outcome.merchant_id,
  tx_reference: outcome.tx_reference,
  sequence: outcome.sequence,
  try: outcome.try,
  started_at: outcome.started_at,
  ms: outcome.ms,
  address: outcome.address,
  status: outcome.status,
  result: outcome.result,
  words: outcome.words,
  answer: outcome.answer,
})

describe('the log of a delivery', () => {
  test('acknowledged at once: its try stands in its row alone, with all that is known of it', async () => {
    const answer: Answer = { ...thanks(), ms: 34.4, body: Buffer.of(0, 255, 10), address: '2001:db8::7' }
    await carryAll(post.courier(playedOutbound(() => answer)))
    expect(await earlier()).toBe(0)
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
    const answers: Answer[] = [
      { ...fails('timeout'), ms: 10_000, words: 'no answer within 10 s' },
      { ...says(404), ms: 1, body: Buffer.alloc(0) },
      { ...says(503), ms: 2, body: null, words: 'said "no"\n\\ and {left}' },
      { ...thanks(), ms: 3, body: Buffer.from('{"ok":true}') },
    ]
    const courier = post.courier(playedOutbound(() => answers[started.length - 1] as Answer))
    const started: Date[] = []
    for (const pass of [0, 15, 45, 90]) {
      post.pass(seconds(pass))
      started.push(post.clock())
      await carryAll(courier)
    }
    expect(await earlier()).toBe(3)
    const common = { ...key, address: '192.0.2.7', words: '' }
    expect(await triesOf(post.db, key)).toEqual(
      [
        {
          ...common,
          ms: 10_000,
          address: null,
          status: null,
          result: 'timeout',
          words: answers[0]?.words,
          answer: null,
        },
        { ...common, ms: 1, status: 404, result: 'refused', answer: Buffer.alloc(0) },
        { ...common, ms: 2, status: 503, result: 'server_error', words: answers[2]?.words, answer: null },
        { ...common, ms: 3, status: 200, result: 'acknowledged', answer: Buffer.from('{"ok":true}') },
      ].map((one, at) => ({ ...one, try: at + 1, started_at: started[at] })),
    )
    expect(await find()).toMatchObject({
      last_try: 4,
      last_result: 'acknowledged',
      next_try_at: null,
      tries: 4,
    })
  })

  test('sent again by hand after it was acknowledged: the old try moves when the new one is written', async () => {
    const courier = post.courier(playedOutbound(thanks))
    await carryAll(courier)
    post.pass(hours(1))
    await redeliver(post.db, key, post.clock())
    expect([await earlier(), await numbersOf()]).toEqual([0, [1]])
    await carryAll(courier)
    expect([await earlier(), await numbersOf()]).toEqual([1, [1, 2]])
    expect((await triesOf(post.db, key)).map(one => one.started_at)).toEqual([noon, after(hours(1))])
  })

  test('many in one commit, of every kind: to each its own', async () => {
    const keys = [key]
    while (keys.length < 12) keys.push(await tell(post.ids[keys.length % 2]))
    const first = (await take(...keys)).map((taken, at) => triedOf(taken, at % 3 === 0 ? yes() : no()))
    await save(...first)
    post.pass(seconds(20))
    const second = (await take(...keys)).map((taken, at) => triedOf(taken, at % 2 === 0 ? yes() : noMore()))
    await save(...second)
    expect([first.length, second.length, await earlier()]).toEqual([12, 8, 8])
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
    ['yes', yes],
    ['no', no],
    ['an end', noMore],
  ] as const)
    for (const [when, isSaved] of [
      ['while the other is at it', false],
      ['when the other is done', true],
    ] as const)
      test(`brings ${what} ${when}: its try is in the log, once, and nothing else of it`, async () => {
        const late = await takeOne()
        post.pass(seconds(31))
        const other = triedOf(await takeOne(), no())
        if (isSaved) await save(other)
        const before = await find()
        const lost = triedOf(late, ending(), 'dev@shop.example')
        await save(lost)
        await save(lost)
        expect(await find()).toEqual(before)
        if (!isSaved) await save(other)
        expect(await triesOf(post.db, key)).toEqual([tryOf(lost), tryOf(other)])
        expect([await earlier(), await notices()]).toEqual([1, []])
      })

  test('by real couriers: once too', async () => {
    const keeper = createGateKeeper()
    const [away, other] = [
      post.courier(playedOutbound(keeper.hold)),
      post.courier(playedOutbound(() => says(500))),
    ]
    await stepUntilRest(away, keeper)
    post.pass(seconds(31))
    await carryAll(other)
    keeper.letGo()
    await away.finished()
    expect(await triesOf(post.db, key)).toMatchObject([
      { try: 1, status: 200, started_at: noon },
      { try: 2, status: 500, started_at: after(seconds(31)) },
    ])
    expect(await find()).toMatchObject({ acknowledged_at: null, last_try: 2, last_result: 'server_error' })
  })

  test('to a delivery by hand: that one is not ended by it', async () => {
    const late = triedOf(await takeOne(), yes())
    post.pass(seconds(31))
    await redeliver(post.db, key, post.clock())
    const before = await find()
    await save(late)
    expect([await find(), await numbersOf()]).toEqual([before, [1]])
  })

  // Between moving the old try and taking the new one in, another worker comes.
  for (const [who, comes] of [
    ['another worker', () => takeOne()],
    ['a delivery by hand', () => redeliver(post.db, key, post.clock())],
  ] as const)
    test(`in the very moment in which it writes, to ${who}: each try is in the log once`, async () => {
      await save(triedOf(await takeOne(), no()))
      post.pass(seconds(10))
      const late = triedOf(await takeOne(), no())
      post.pass(seconds(31))
      let coming: Promise<unknown> = Promise.resolve()
      const interrupted = beforeCount(async () => {
        let isDone = false
        coming = comes().finally(() => void (isDone = true))
        await until(async () => isDone || (await isSomeoneWaiting()))
      })
      await saveOn(interrupted, late)
      await coming
      expect(await numbersOf()).toEqual([1, 2])
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
    ['a yes', yes],
    ['a no', no],
    ['an end', noMore],
  ] as const)
    for (const before of [0, 2])
      test(`${what} after ${before} failures: its try is there once, and the delivery stays`, async () => {
        for (let at = 0; at < before; at++) {
          await save(triedOf(await takeOne(), no()))
          post.pass(seconds(10))
        }
        const tried = triedOf(await takeOne(), ending(), 'dev@shop.example')
        await save(tried)
        const once = [await find(), await triesOf(post.db, key), await notices()]
        await save(tried)
        await save(tried, tried)
        expect([await find(), await triesOf(post.db, key), await notices()]).toEqual(once)
        expect(await numbersOf()).toEqual(Array.from({ length: before + 1 }, (_, at) => at + 1))
        expect(await earlier()).toBe(before)
      })

  for (const [what, ending] of [
    ['a yes', yes],
    ['a no', no],
  ] as const)
    test(`${what}, and meanwhile the next try has been written`, async () => {
      const tried = triedOf(await takeOne(), ending())
      await save(tried)
      post.pass(seconds(10))
      await redeliver(post.db, key, post.clock())
      const next = triedOf(await takeOne(), yes())
      await save(next)
      const before = await find()
      await save(tried)
      expect(await triesOf(post.db, key)).toEqual([tryOf(tried), tryOf(next)])
      expect(await find()).toEqual(before)
    })

  test('one that was heard beside one that was not, in one commit', async () => {
    const other = await tell()
    const [first, second] = (await take(key, other)).map(taken => triedOf(taken, yes())) as [Tried, Tried]
    await save(first)
    await save(first, second)
    expect([await triesOf(post.db, key), await triesOf(post.db, other)]).toEqual(
      [first, second]
        .map(tried => [tryOf(tried)])
        .toSorted(([a]) => (a?.tx_reference === key.tx_reference ? -1 : 1)),
    )
    expect(await earlier()).toBe(0)
  })
})

const kept = ({ last_result, last_try_at, acknowledged_at, exhausted_at, tries }: Delivery) => ({
  last_result,
  last_try_at,
  acknowledged_at,
  exhausted_at,
  tries,
})

describe('after 30 days', () => {
  test('all tries of a delivery are forgotten, and not how it ended', async () => {
    await save(triedOf(await takeOne(), no()))
    post.pass(seconds(10))
    await save(triedOf(await takeOne(), yes()))
    const before = kept(await find())
    expect(await forgetOldTries(post.db, after(days(30)))).toBe(0)
    expect(await numbersOf()).toEqual([1, 2])
    expect(await forgetOldTries(post.db, after(days(30) + 1))).toBe(1) // the first one started at noon
    expect(await numbersOf()).toEqual([2])
    expect(await forgetOldTries(post.db, after(days(30) + seconds(10) + 1))).toBe(1)
    expect(await forgetOldTries(post.db, after(days(30) + seconds(10) + 1))).toBe(0)
    expect(await triesOf(post.db, key)).toEqual([])
    expect(before).toMatchObject({ last_result: 'acknowledged', last_try_at: after(seconds(10)), tries: 2 })
    expect(kept(await find())).toEqual(before)
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
    await save(triedOf(await takeOne(), yes()))
    post.pass(days(20))
    const young = await tell()
    const tried = triedOf((await take(young))[0] as Taken, yes())
    await save(tried)
    expect(await forgetOldTries(post.db, after(days(31)))).toBe(1)
    expect([await triesOf(post.db, key), await triesOf(post.db, young)]).toEqual([[], [tryOf(tried)]])
  })

  test('a few at a time, until there are none', async () => {
    const keys = [key]
    while (keys.length < 7) keys.push(await tell())
    await save(...(await take(...keys)).map(taken => triedOf(taken, no())))
    post.pass(seconds(10))
    await save(...(await take(...keys.slice(0, 5))).map(taken => triedOf(taken, yes())))
    const counts: number[] = []
    do counts.push(await forgetTries(post.db, after(days(1)), 3))
    while (counts.at(-1) !== 0)
    expect(counts).toEqual([6, 5, 1, 0]) // 5 that were moved and 7 that were the last, by threes
    for (const one of keys) expect(await triesOf(post.db, one)).toEqual([])
  })

  test('sent again by hand: the log begins with the new try', async () => {
    const courier = post.courier(playedOutbound(thanks))
    await carryAll(courier)
    post.pass(days(31))
    await forgetOldTries(post.db, post.clock())
    await redeliver(post.db, key, post.clock())
    await carryAll(courier)
    expect(await triesOf(post.db, key)).toMatchObject([{ try: 2, started_at: after(days(31)) }])
    expect(await earlier()).toBe(0)
  })
})

describe('the contact of the merchant hears that a notification was given up', () => {
  test('once, when that was accepted', async () => {
    const tried = triedOf(await takeOne(), noMore(), 'dev@shop.example')
    expect(await notices()).toEqual([])
    await save(tried)
    await save(tried)
    expect(await notices()).toEqual(['dev@shop.example'])
  })

  test('of others in the same commit it is the one who has lost its lease that is not heard of', async () => {
    const kofi = await tell(post.ids[1])
    const late = await take(key, kofi)
    post.pass(seconds(31))
    await take(kofi)
    await save(...late.map(taken => triedOf(taken, noMore(), `dev@${taken.merchant_id}.example`)))
    expect(await notices()).toEqual([`dev@${ama}.example`])
    expect([await find(), await find(kofi)]).toMatchObject([
      { exhausted_at: after(seconds(31)) },
      { exhausted_at: null },
    ])
    expect([await numbersOf(), await numbersOf(kofi)]).toEqual([[1], [1]])
  })

  test('not a day later, by a worker that had lost its lease long before', async () => {
    const late = await takeOne()
    post.pass(seconds(31))
    await save(triedOf(await takeOne(), noMore(), 'dev@shop.example'))
    post.pass(days(1)) // there is one mail a day
    await save(triedOf(late, noMore(), 'dev@shop.example'))
    expect([await notices(), await numbersOf()]).toEqual([['dev@shop.example'], [1, 2]])
  })

  test('not, when there is no contact', async () => {
    await save(triedOf(await takeOne(), noMore()))
    expect([await notices(), (await find()).exhausted_at]).toEqual([[], noon])
  })
})
