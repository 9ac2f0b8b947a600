import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { HttpOutcome } from '../../../src/core/notification/delivery.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { triesOf } from '../../../src/store/notifications/tries.ts'
import type { FinishedTry } from '../../../src/workers/deliveries/tries.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { createRequestGate, failWith, fakeOutbound, respond, acknowledge } from './answers.ts'
import { type ManualWorker, createManualWorker, saveOn, tryOf } from './manualWorker.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

const fixture = useDeliveryFixture(2)
let worker: ManualWorker
let key: NotificationKey
beforeAll(() => void (worker = createManualWorker(fixture)))
beforeEach(async () => void (key = await worker.notify()))

describe('the log of a delivery', () => {
  test('acknowledged at once: its only try is in the row of the delivery, with all columns', async () => {
    const answer: HttpOutcome = {
      ...acknowledge(),
      ms: 34.4,
      body: Buffer.of(0, 255, 10),
      address: '2001:db8::7',
    }
    await dispatchAll(fixture.dispatcher(fakeOutbound(() => answer)))
    expect(await worker.countEarlierTries()).toBe(0)
    expect(await triesOf(fixture.db, key)).toEqual([
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

  test('three failures, then 200: four tries in order, each with its result, three of them moved to the table of tries', async () => {
    const answers: HttpOutcome[] = [
      { ...failWith('timeout'), ms: 10_000, error: 'no answer within 10 s' },
      { ...respond(404), ms: 1, body: Buffer.alloc(0) },
      { ...respond(503), ms: 2, body: null, error: 'said "no" \\ and {left}' },
      { ...acknowledge(), ms: 3, body: Buffer.from('{"ok":true}') },
    ]
    const dispatcher = fixture.dispatcher(fakeOutbound(() => answers[started.length - 1] as HttpOutcome))
    const started: Date[] = []
    for (const pass of [0, 15, 45, 90]) {
      fixture.pass(seconds(pass))
      started.push(fixture.clock())
      await dispatchAll(dispatcher)
    }
    expect(await worker.countEarlierTries()).toBe(3)
    const common = { ...key, address: '192.0.2.7', words: '' }
    expect(await triesOf(fixture.db, key)).toEqual(
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
    expect(await worker.find(key)).toMatchObject({
      last_try: 4,
      last_result: 'acknowledged',
      next_try_at: null,
      tries: 4,
    })
  })

  test('redelivered after it was acknowledged: the former try moves when the new one is saved', async () => {
    const dispatcher = fixture.dispatcher(fakeOutbound(acknowledge))
    await dispatchAll(dispatcher)
    fixture.pass(hours(1))
    await redeliver(fixture.db, key, fixture.clock())
    expect([await worker.countEarlierTries(), await worker.tryNumbers(key)]).toEqual([0, [1]])
    await dispatchAll(dispatcher)
    expect([await worker.countEarlierTries(), await worker.tryNumbers(key)]).toEqual([1, [1, 2]])
    expect((await triesOf(fixture.db, key)).map(one => one.started_at)).toEqual([noon, after(hours(1))])
  })

  test('many results of every kind in one commit: each delivery gets its result', async () => {
    const keys = [key]
    while (keys.length < 12) keys.push(await worker.notify(fixture.ids[keys.length % 2]))
    const first = (await worker.take(...keys)).map((taken, at) =>
      worker.finishedTry(taken, at % 3 === 0 ? worker.acknowledged() : worker.failed()),
    )
    await worker.save(...first)
    fixture.pass(seconds(20))
    const second = (await worker.take(...keys)).map((taken, at) =>
      worker.finishedTry(taken, at % 2 === 0 ? worker.acknowledged() : worker.exhausted()),
    )
    await worker.save(...second)
    expect([first.length, second.length, await worker.countEarlierTries()]).toEqual([12, 8, 8])
    for (const one of keys) {
      const expected = [...first, ...second]
        .map(tryOf)
        .filter(tried => tried.tx_reference === one.tx_reference)
      expect(await triesOf(fixture.db, one)).toEqual(expected)
    }
  })
})

describe('a worker that has lost its lease', () => {
  for (const [what, ending] of [
    ['acknowledged', 'acknowledged'],
    ['failed', 'failed'],
    ['an end', 'exhausted'],
  ] as const)
    for (const [when, isSaved] of [
      ['while the other worker has the lease', false],
      ['after the other worker has saved its result', true],
    ] as const)
      test(`saves ${what} ${when}: its try is in the log once, and the delivery does not change`, async () => {
        const late = await worker.takeOne(key)
        fixture.pass(seconds(31))
        const other = worker.finishedTry(await worker.takeOne(key), worker.failed())
        if (isSaved) await worker.save(other)
        const before = await worker.find(key)
        const lost = worker.finishedTry(late, worker[ending](), 'dev@shop.example')
        await worker.save(lost)
        await worker.save(lost)
        expect(await worker.find(key)).toEqual(before)
        if (!isSaved) await worker.save(other)
        expect(await triesOf(fixture.db, key)).toEqual([tryOf(lost), tryOf(other)])
        expect([await worker.countEarlierTries(), await worker.notices()]).toEqual([1, []])
      })

  test('with real dispatchers: also once', async () => {
    const gate = createRequestGate()
    const [away, other] = [
      fixture.dispatcher(fakeOutbound(gate.hold)),
      fixture.dispatcher(fakeOutbound(() => respond(500))),
    ]
    await stepUntilRest(away, gate)
    fixture.pass(seconds(31))
    await dispatchAll(other)
    gate.release()
    await away.finished()
    expect(await triesOf(fixture.db, key)).toMatchObject([
      { try: 1, status: 200, started_at: noon },
      { try: 2, status: 500, started_at: after(seconds(31)) },
    ])
    expect(await worker.find(key)).toMatchObject({
      acknowledged_at: null,
      last_try: 2,
      last_result: 'server_error',
    })
  })

  test('for a delivery that was redelivered: the redelivery does not end', async () => {
    const late = worker.finishedTry(await worker.takeOne(key), worker.acknowledged())
    fixture.pass(seconds(31))
    await redeliver(fixture.db, key, fixture.clock())
    const before = await worker.find(key)
    await worker.save(late)
    expect([await worker.find(key), await worker.tryNumbers(key)]).toEqual([before, [1]])
  })

  // Another worker writes between the move of the former try and the insert of the new one.
  for (const [who, comes] of [
    ['another worker takes it', () => worker.takeOne(key)],
    ['a redelivery starts', () => redeliver(fixture.db, key, fixture.clock())],
  ] as const)
    test(`while it saves, ${who}: each try is in the log once`, async () => {
      await worker.save(worker.finishedTry(await worker.takeOne(key), worker.failed()))
      fixture.pass(seconds(10))
      const late = worker.finishedTry(await worker.takeOne(key), worker.failed())
      fixture.pass(seconds(31))
      let coming: Promise<unknown> = Promise.resolve()
      const interrupted = beforeCount(async () => {
        let isDone = false
        coming = comes().finally(() => void (isDone = true))
        await until(async () => isDone || (await isSomeoneWaiting()))
      })
      await saveOn(interrupted, late)
      await coming
      expect(await worker.tryNumbers(key)).toEqual([1, 2])
    })
})

const isSomeoneWaiting = async () =>
  (
    await fixture.db.rows(sql`select from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock'`)
  ).length > 0

// A database whose transactions run a function before an update.
const beforeCount = (happens: () => Promise<void>): Db => ({
  ...fixture.db,
  locks: { strategy: { state: 'untested' } }, // so that it uses transactions
  transaction: work =>
    fixture.db.transaction(tx => {
      const count: Tx['count'] = async query => {
        await happens()
        return tx.count(query)
      }
      return work({ ...tx, count })
    }),
})

describe('the same outcome twice, because the answer to the first commit was lost', () => {
  for (const [what, ending] of [
    ['a yes', 'acknowledged'],
    ['a no', 'failed'],
    ['an end', 'exhausted'],
  ] as const)
    for (const before of [0, 2])
      test(`${what} after ${before} failures: the try is stored once, and the delivery does not change`, async () => {
        for (let at = 0; at < before; at++) {
          await worker.save(worker.finishedTry(await worker.takeOne(key), worker.failed()))
          fixture.pass(seconds(10))
        }
        const tried = worker.finishedTry(await worker.takeOne(key), worker[ending](), 'dev@shop.example')
        await worker.save(tried)
        const once = [await worker.find(key), await triesOf(fixture.db, key), await worker.notices()]
        await worker.save(tried)
        await worker.save(tried, tried)
        expect([await worker.find(key), await triesOf(fixture.db, key), await worker.notices()]).toEqual(once)
        expect(await worker.tryNumbers(key)).toEqual(Array.from({ length: before + 1 }, (_, at) => at + 1))
        expect(await worker.countEarlierTries()).toBe(before)
      })

  for (const [what, ending] of [
    ['a yes', 'acknowledged'],
    ['a no', 'failed'],
  ] as const)
    test(`${what}, and meanwhile the next try was saved`, async () => {
      const tried = worker.finishedTry(await worker.takeOne(key), worker[ending]())
      await worker.save(tried)
      fixture.pass(seconds(10))
      await redeliver(fixture.db, key, fixture.clock())
      const next = worker.finishedTry(await worker.takeOne(key), worker.acknowledged())
      await worker.save(next)
      const before = await worker.find(key)
      await worker.save(tried)
      expect(await triesOf(fixture.db, key)).toEqual([tryOf(tried), tryOf(next)])
      expect(await worker.find(key)).toEqual(before)
    })

  test('one with an answer and one without, in one commit', async () => {
    const other = await worker.notify()
    const [first, second] = (await worker.take(key, other)).map(taken =>
      worker.finishedTry(taken, worker.acknowledged()),
    ) as [FinishedTry, FinishedTry]
    await worker.save(first)
    await worker.save(first, second)
    expect([await triesOf(fixture.db, key), await triesOf(fixture.db, other)]).toEqual(
      [first, second]
        .map(tried => [tryOf(tried)])
        .toSorted(([a]) => (a?.tx_reference === key.tx_reference ? -1 : 1)),
    )
    expect(await worker.countEarlierTries()).toBe(0)
  })
})
