import { beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { seconds } from '../../support/payments/rows.ts'
import { attemptOf, createRequestGate, idOf, fakeOutbound, referenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

const fixture = useDeliveryFixture(24)
let ama: string
let kofi: string
beforeAll(() => void ([ama, kofi] = fixture.ids as [string, string]))

const tableOf = async () =>
  (await fixture.db.one<{ parked: number; due: number; acknowledged: number }>(sql`
    select count(*) filter (where parked)::integer as parked,
      count(*) filter (where not parked and next_try_at <= ${fixture.clock()})::integer as due,
      count(acknowledged_at)::integer as acknowledged from deliveries`)) ?? {
    parked: 0,
    due: 0,
    acknowledged: 0,
  }

const hangingShop = 'https://hangs.example/ipn'

// Requests to these addresses hang at the gate. All others are acknowledged.
function hangFor(isHanging: (url: string) => boolean) {
  const gate = createRequestGate()
  const sent: string[] = []
  const outbound = fakeOutbound(request => {
    if (isHanging(request.url)) return gate.hold(request)
    sent.push(referenceOf(request))
    return acknowledge()
  })
  return { gate, sent, outbound }
}

test('20,000 deliveries behind a lane that hangs: another merchant is served before the worker rests, and later at once', async () => {
  const { gate, sent, outbound } = hangFor(url => url === hangingShop)
  const dispatcher = fixture.dispatcher(outbound)
  await fixture.addBacklog(ama, 20_000, hangingShop)
  const first = await fixture.notify({ merchant_id: kofi })
  const steps = await stepUntilRest(dispatcher, gate)
  expect(sent).toEqual([first])
  expect(steps).toBeLessThan(60) // a poll returns 500
  expect(gate.waiting).toHaveLength(1)
  expect((await tableOf()).due).toBeLessThan(500)

  // By now the others are parked.
  const second = await fixture.notify({ merchant_id: kofi })
  dispatcher.requestPoll()
  await dispatcher.step()
  await until(() => sent.length === 2)
  expect(sent).toEqual([first, second])
  gate.release()
  await dispatcher.finished()
})

test('2,400 deliveries that are due at the same time: each is sent once', async () => {
  const seen: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      seen.push(idOf(request))
      return acknowledge()
    }),
  )
  for (const [at, merchant_id] of fixture.ids.entries())
    await fixture.addBacklog(merchant_id, 100, `https://shop${at}.example/ipn`)
  await fixture.db.rows(sql`update deliveries set next_try_at = ${fixture.clock()}`)
  dispatcher.requestPoll()
  while (seen.length < 2400) {
    await dispatcher.step()
    await new Promise(setImmediate)
  }
  await dispatcher.finished()
  expect([seen.length, new Set(seen).size]).toEqual([2400, 2400])
})

test('a backlog is released as its lane has room: all are acknowledged once, eight at a time', async () => {
  const inFlight = { now: 0, most: 0 }
  const seen = new Map<string, number>()
  const dispatcher = fixture.dispatcher(
    fakeOutbound(async request => {
      seen.set(idOf(request), (seen.get(idOf(request)) ?? 0) + attemptOf(request))
      inFlight.most = Math.max(inFlight.most, ++inFlight.now)
      await new Promise(setImmediate)
      inFlight.now--
      return acknowledge()
    }),
  )
  await fixture.addBacklog(ama, 1500, hangingShop)
  await dispatchAll(dispatcher)
  expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 1500 })
  expect([inFlight.most, seen.size, new Set(seen.values())]).toEqual([8, 1500, new Set([1])])
})

test('a process that parked a backlog dies: another process finds and sends it', async () => {
  const dead = hangFor(() => true)
  const dying = fixture.dispatcher(dead.outbound)
  await fixture.addBacklog(ama, 1200, hangingShop)
  await stepUntilRest(dying, dead.gate)
  expect((await tableOf()).parked).toBeGreaterThan(600)
  fixture.pass(seconds(31)) // it never comes back
  await dispatchAll(fixture.dispatcher(fakeOutbound(acknowledge)))
  expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 1200 })
})

for (const [why, urlOf] of [
  ['a hundred addresses of its own', (at: number) => `https://shop${at % 100}.example/ipn`],
  ['a new address for every payment', (at: number) => `https://shop${at}.example/ipn`],
] as const)
  test(`a merchant with ${why}, all of which hang, delays no other merchant`, async () => {
    const { gate, sent, outbound } = hangFor(url => url !== 'https://kofi.example/ipn')
    const dispatcher = fixture.dispatcher(outbound)
    await fixture.addBacklog(ama, 700, hangingShop)
    await fixture.db.rows(sql`
      update deliveries d set lane = u.lane, url = u.lane || '/ipn'
      from unnest(${Array.from({ length: 700 }, (_, at) => `TG-${hangingShop}-${at + 1}`)}::text[],
        ${Array.from({ length: 700 }, (_, at) => new URL(urlOf(at)).origin)}::text[]) as u (tx_reference, lane)
      where d.tx_reference = u.tx_reference`)
    const reference = await fixture.notify({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
    await stepUntilRest(dispatcher, gate)
    expect(gate.waiting).toHaveLength(8) // of sixteen: the others are reserved for acknowledged addresses
    expect(sent).toEqual([reference])
    while (gate.waiting.length > 0) {
      gate.release()
      await dispatcher.finished()
      await stepUntilRest(dispatcher, gate)
    }
    expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 701 })
  })

test('if half of the slots are taken, lanes that have slots do not delay a lane without one', async () => {
  const { gate, sent, outbound } = hangFor(url => url !== 'https://kofi.example/ipn')
  const dispatcher = fixture.dispatcher(outbound)
  // Twenty merchants that first acknowledge and then hang: four lanes are full, four have one try.
  for (const [at, merchant_id] of fixture.ids.slice(2).entries())
    await fixture.addBacklog(merchant_id, 20, `https://shop${at}.example/ipn`)
  for (let wave = 0; wave < 2; wave++) {
    await stepUntilRest(dispatcher, gate)
    gate.release()
    await dispatcher.finished()
  }
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting.length).toBeGreaterThanOrEqual(64)
  fixture.pass(1000)
  for (const [at, merchant_id] of fixture.ids.slice(2).entries())
    await fixture.addBacklog(merchant_id, 100, `https://shop${at}.example/more`)
  fixture.pass(1000)
  const reference = await fixture.notify({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
  await stepUntilRest(dispatcher, gate)
  expect(sent).toEqual([reference])
  gate.release()
  await dispatcher.finished()
})

test('5,000 due retries take at most half of the slots, and no first try waits for them', async () => {
  const { gate, sent, outbound } = hangFor(url => url.includes('again'))
  const dispatcher = fixture.dispatcher(outbound)
  for (let at = 0; at < 20; at++)
    await fixture.addBacklog(fixture.ids[at + 2] as string, 250, `https://again${at}.example/`, true)
  await fixture.db.rows(
    sql`update deliveries set url = replace(url, '//again', '//' || right(tx_reference, 1) || '.again'),
      begun_at = begun_at - interval '1 hour'`,
  )
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting).toHaveLength(64)
  const firsts = await Promise.all(Array.from({ length: 20 }, () => fixture.notify({ merchant_id: kofi })))
  while (sent.length < 20) await stepUntilRest(dispatcher, gate)
  expect(sent.toSorted()).toEqual(firsts.toSorted())
  gate.release()
  await dispatcher.finished()
})
