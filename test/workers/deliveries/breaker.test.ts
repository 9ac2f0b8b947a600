import { expect, test } from 'vitest'
import { offsets } from '../../../src/core/notification/schedule.ts'
import { sql } from '../../../src/store/db.ts'
import { after, hours, minutes, seconds } from '../../support/payments/rows.ts'
import { createRequestGate, failWith, fakeOutbound, referenceOf, respond } from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

const stride = minutes(5)

const fixture = useDeliveryFixture()

const notifyMany = async (count: number, everyMs = 0) => {
  for (let at = 0; at < count; at++) {
    await fixture.notify({ merchant_id: fixture.ids[0] as string })
    fixture.pass(everyMs)
  }
}
const count = async (which: 'parked' | 'due' | 'acknowledged') => {
  const now = fixture.clock()
  return (await fixture.deliveries()).filter(({ parked, next_try_at, acknowledged_at }) => {
    if (which === 'acknowledged') return acknowledged_at !== null
    return which === 'parked' ? parked : next_try_at !== null && next_try_at <= now
  }).length
}

test('a lane that is dead for a day: a try at least every six hours, the last try, and none after 24 hours', async () => {
  await notifyMany(40, minutes(1))
  const dispatcher = fixture.dispatcher(fakeOutbound(() => failWith('no_connection')))
  for (let ms = 0; ms <= hours(25); ms += stride) {
    fixture.setNow(after(minutes(40) + ms))
    await dispatchAll(dispatcher)
  }
  const tries = await fixture.tries()
  for (const { tx_reference, begun_at, exhausted_at, next_try_at, parked } of await fixture.deliveries()) {
    const own = tries.filter(one => one.tx_reference === tx_reference)
    const starts = own.map(({ started_at }) => started_at.getTime() - begun_at.getTime())
    const gaps = starts.map((ms, at) => ms - (starts[at - 1] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(hours(6) + stride)
    expect(starts.at(-1)).toBeGreaterThanOrEqual(offsets.at(-1) as number)
    expect(starts.at(-1)).toBeLessThanOrEqual(hours(24))
    expect(starts.length).toBeLessThanOrEqual(16)
    expect([exhausted_at !== null, next_try_at, parked]).toEqual([true, null, false])
  }
  expect(tries.length).toBeLessThan(40 * 10) // the breaker saves tries
})

test('five failures open the breaker, the other deliveries are parked; one probe after 30 s, the next after a minute', async () => {
  await notifyMany(30)
  let sent = 0
  const dispatcher = fixture.dispatcher(fakeOutbound(() => respond(sent++ < 5 ? 500 : 429)))
  await dispatchAll(dispatcher)
  expect([sent, await count('parked'), await count('due')]).toEqual([5, 25, 0])
  expect(dispatcher.breakers()).toMatchObject([{ merchant_id: fixture.ids[0], state: 'open' }])
  for (const [pause, more] of [
    [seconds(29), 0],
    [seconds(1), 1],
    [seconds(59), 0],
    [seconds(1), 1],
    [minutes(2) - 1, 0],
    [1, 1],
  ] as const) {
    const before = sent
    fixture.pass(pause)
    await dispatchAll(dispatcher)
    expect(sent - before).toBe(more)
  }
  expect((await fixture.deliveries()).filter(({ next_try_at }) => next_try_at === null)).toEqual([])
})

test('a lane that answers again gets 1, 2, 4, then 8 tries at a time, until none is parked; none is sent twice', async () => {
  await notifyMany(60)
  const gate = createRequestGate()
  let isDown = true
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => (isDown ? failWith('timeout') : gate.hold(request))),
  )
  await dispatchAll(dispatcher)
  isDown = false
  fixture.pass(seconds(30))
  const inFlight: number[] = []
  for (;;) {
    await stepUntilRest(dispatcher, gate)
    if (gate.waiting.length === 0) break
    inFlight.push(gate.waiting.length)
    gate.waiting.shift()?.answer(respond(200))
    await until(() => dispatcher.inFlight() === gate.waiting.length)
  }
  await dispatcher.finished()
  expect(inFlight.slice(0, 6)).toEqual([1, 2, 4, 8, 8, 8])
  expect([Math.max(...inFlight), await count('parked'), dispatcher.breakers()]).toEqual([8, 0, []])
  expect(await count('acknowledged')).toBe(60)
  expect(await fixture.tries()).toHaveLength(65)
})

test('a try that was in flight when the breaker opened does not postpone the probe', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold))
  await notifyMany(60)
  for (let wave = 0; wave < 3; wave++) {
    await stepUntilRest(dispatcher, gate)
    gate.release()
    await dispatcher.finished()
  }
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting).toHaveLength(8)
  const late = gate.waiting.splice(5)
  gate.release(() => failWith('timeout'))
  await until(() => dispatcher.inFlight() === 3)
  await dispatcher.step()
  expect(dispatcher.breakers()).toHaveLength(1)
  fixture.pass(seconds(9))
  for (const one of late) one.answer(failWith('timeout'))
  await dispatcher.finished()
  fixture.pass(seconds(21))
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting).toHaveLength(1)
  gate.release()
  await dispatcher.finished()
})

test('another process has a separate breaker, and finds the deliveries that a dead process parked', async () => {
  await notifyMany(20)
  await dispatchAll(fixture.dispatcher(fakeOutbound(() => failWith('timeout'))))
  expect(await count('parked')).toBe(15)
  fixture.pass(seconds(10))
  await dispatchAll(fixture.dispatcher(fakeOutbound(() => respond(200))))
  expect([await count('parked'), await count('acknowledged')]).toEqual([0, 15]) // the five wait for their second try
})

test('a redelivery by an operator passes the open breaker at once', async () => {
  await notifyMany(10)
  const dispatcher = fixture.dispatcher(fakeOutbound(() => failWith('timeout')))
  await dispatchAll(dispatcher)
  fixture.pass(seconds(5))
  const [again] = (await fixture.deliveries()).filter(({ parked }) => parked)
  await fixture.db.rows(sql`
    update deliveries set begun_at = ${fixture.clock()}, next_try_at = ${fixture.clock()}, parked = false
    where tx_reference = ${again?.tx_reference}`)
  await dispatchAll(dispatcher)
  expect((await fixture.tries()).filter(one => one.tx_reference === again?.tx_reference)).toHaveLength(1)
})

test('the probe is a delivery that was never tried, although failed ones are due and others are parked', async () => {
  await notifyMany(8)
  const tried: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      tried.push(referenceOf(request))
      return respond(500)
    }),
  )
  await dispatchAll(dispatcher)
  expect(tried).toHaveLength(5) // the breaker is open, and the three others are parked
  for (let probe = 0; probe < 3; probe++) {
    fixture.pass(minutes(4)) // those that failed are due too
    await dispatchAll(dispatcher)
  }
  expect(new Set(tried.slice(0, 8)).size).toBe(8)
})
