import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lastOffset } from '../../../src/core/notification/schedule.ts'
import { sql } from '../../../src/store/db.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, fails, playedOutbound, referenceOf, says } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

const stride = minutes(5)

let post: Post
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
})
afterAll(() => post.close())

const tellMany = async (count: number, everyMs = 0) => {
  for (let at = 0; at < count; at++) {
    await post.tell({ merchant_id: post.ids[0] as string })
    post.pass(everyMs)
  }
}
const count = async (which: 'held' | 'due' | 'acknowledged') => {
  const now = post.clock()
  return (await post.deliveries()).filter(({ parked: held, next_try_at, acknowledged_at }) => {
    if (which === 'acknowledged') return acknowledged_at !== null
    return which === 'held' ? held : next_try_at !== null && next_try_at <= now
  }).length
}

test('a lane that is dead for a day: a try at least every six hours and the last one, none after 24 hours', async () => {
  await tellMany(40, minutes(1))
  const dispatcher = post.dispatcher(playedOutbound(() => fails('no_connection')))
  for (let ms = 0; ms <= hours(25); ms += stride) {
    post.setNow(after(minutes(40) + ms))
    await carryAll(dispatcher)
  }
  const tries = await post.tries()
  for (const { tx_reference, begun_at, exhausted_at, next_try_at, parked: held } of await post.deliveries()) {
    const own = tries.filter(one => one.tx_reference === tx_reference)
    const starts = own.map(({ started_at }) => started_at.getTime() - begun_at.getTime())
    const gaps = starts.map((ms, at) => ms - (starts[at - 1] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(hours(6) + stride)
    expect(starts.at(-1)).toBeGreaterThanOrEqual(lastOffset)
    expect(starts.at(-1)).toBeLessThanOrEqual(hours(24))
    expect(starts.length).toBeLessThanOrEqual(16)
    expect([exhausted_at !== null, next_try_at, held]).toEqual([true, null, false])
  }
  expect(tries.length).toBeLessThan(40 * 10) // the breaker has spared the endpoint, and us
})

test('five troubles open the breaker, the others are held; one probe after 30 s, the next after a minute', async () => {
  await tellMany(30)
  let sent = 0
  const dispatcher = post.dispatcher(playedOutbound(() => says(sent++ < 5 ? 500 : 429)))
  await carryAll(dispatcher)
  expect([sent, await count('held'), await count('due')]).toEqual([5, 25, 0])
  expect(dispatcher.breakers()).toMatchObject([{ merchant_id: post.ids[0], state: 'open' }])
  for (const [pause, more] of [
    [seconds(29), 0],
    [seconds(1), 1],
    [seconds(59), 0],
    [seconds(1), 1],
    [minutes(2) - 1, 0],
    [1, 1],
  ] as const) {
    const before = sent
    post.pass(pause)
    await carryAll(dispatcher)
    expect(sent - before).toBe(more)
  }
  expect((await post.deliveries()).filter(({ next_try_at }) => next_try_at === null)).toEqual([])
})

test('a lane that answers again is given 1, 2, 4, then 8 at a time, until nobody is held; nobody is sent twice', async () => {
  await tellMany(60)
  const monitor = createGateKeeper()
  let isDown = true
  const dispatcher = post.dispatcher(
    playedOutbound(request => (isDown ? fails('timeout') : monitor.hold(request))),
  )
  await carryAll(dispatcher)
  isDown = false
  post.pass(seconds(30))
  const inFlight: number[] = []
  for (;;) {
    await stepUntilRest(dispatcher, monitor)
    if (monitor.waiting.length === 0) break
    inFlight.push(monitor.waiting.length)
    monitor.waiting.shift()?.answer(says(200))
    await until(() => dispatcher.inFlight() === monitor.waiting.length)
  }
  await dispatcher.finished()
  expect(inFlight.slice(0, 6)).toEqual([1, 2, 4, 8, 8, 8])
  expect([Math.max(...inFlight), await count('held'), dispatcher.breakers()]).toEqual([8, 0, []])
  expect(await count('acknowledged')).toBe(60)
  expect(await post.tries()).toHaveLength(65)
})

test('what was on its way when the breaker opened says nothing new: the probe is not postponed', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold))
  await tellMany(60)
  for (let wave = 0; wave < 3; wave++) {
    await stepUntilRest(dispatcher, monitor)
    monitor.letGo()
    await dispatcher.finished()
  }
  await stepUntilRest(dispatcher, monitor)
  expect(monitor.waiting).toHaveLength(8)
  const late = monitor.waiting.splice(5)
  monitor.letGo(() => fails('timeout'))
  await until(() => dispatcher.inFlight() === 3)
  await dispatcher.step()
  expect(dispatcher.breakers()).toHaveLength(1)
  post.pass(seconds(9))
  for (const one of late) one.answer(fails('timeout'))
  await dispatcher.finished()
  post.pass(seconds(21))
  await stepUntilRest(dispatcher, monitor)
  expect(monitor.waiting).toHaveLength(1)
  monitor.letGo()
  await dispatcher.finished()
})

test('another process has a breaker of its own, and finds those that a dead process held', async () => {
  await tellMany(20)
  await carryAll(post.dispatcher(playedOutbound(() => fails('timeout'))))
  expect(await count('held')).toBe(15)
  post.pass(seconds(10))
  await carryAll(post.dispatcher(playedOutbound(() => says(200))))
  expect([await count('held'), await count('acknowledged')]).toEqual([0, 15]) // the five wait for their second try
})

test('somebody wants one sent again: it goes through the open breaker at once', async () => {
  await tellMany(10)
  const dispatcher = post.dispatcher(playedOutbound(() => fails('timeout')))
  await carryAll(dispatcher)
  post.pass(seconds(5))
  const [again] = (await post.deliveries()).filter(({ parked: held }) => held)
  await post.db.rows(sql`
    update deliveries set begun_at = ${post.clock()}, next_try_at = ${post.clock()}, parked = false
    where tx_reference = ${again?.tx_reference}`)
  await carryAll(dispatcher)
  expect((await post.tries()).filter(one => one.tx_reference === again?.tx_reference)).toHaveLength(1)
})

test('a probe goes to one that was never tried, although those that failed are due and others are parked', async () => {
  await tellMany(8)
  const tried: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      tried.push(referenceOf(request))
      return says(500)
    }),
  )
  await carryAll(dispatcher)
  expect(tried).toHaveLength(5) // the breaker is open, and the three others are parked
  for (let probe = 0; probe < 3; probe++) {
    post.pass(minutes(4)) // those that failed are due too
    await carryAll(dispatcher)
  }
  expect(new Set(tried.slice(0, 8)).size).toBe(8)
})
