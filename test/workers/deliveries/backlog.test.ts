import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { noon, seconds } from '../../support/payments/rows.ts'
import { attemptOf, createGateKeeper, idOf, playedOutbound, referenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

let post: Post
let ama: string
let kofi: string
beforeAll(async () => void (post = await openPost(24)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  ;[ama, kofi] = post.ids as [string, string]
})
afterAll(() => post.close())

const tableOf = async () =>
  (await post.db.one<{ parked: number; due: number; acknowledged: number }>(sql`
    select count(*) filter (where parked)::integer as parked,
      count(*) filter (where not parked and next_try_at <= ${post.clock()})::integer as due,
      count(acknowledged_at)::integer as acknowledged from deliveries`)) ?? {
    parked: 0,
    due: 0,
    acknowledged: 0,
  }

const hangingShop = 'https://hangs.example/ipn'

// Hangs for those that wait at the health monitor's, and thanks for all others.
function hangFor(isHanging: (url: string) => boolean) {
  const monitor = createGateKeeper()
  const sent: string[] = []
  const outbound = playedOutbound(request => {
    if (isHanging(request.url)) return monitor.hold(request)
    sent.push(referenceOf(request))
    return thanks()
  })
  return { keeper: monitor, sent, outbound }
}

test('20,000 behind a lane that hangs: another merchant is served before the worker rests, and then at once', async () => {
  const { keeper, sent, outbound } = hangFor(url => url === hangingShop)
  const dispatcher = post.dispatcher(outbound)
  await post.addCrowd(ama, 20_000, hangingShop)
  const first = await post.tell({ merchant_id: kofi })
  const steps = await stepUntilRest(dispatcher, keeper)
  expect(sent).toEqual([first])
  expect(steps).toBeLessThan(60) // a look sees 500
  expect(keeper.waiting).toHaveLength(1)
  expect((await tableOf()).due).toBeLessThan(500)

  // From now on they are out of sight.
  const second = await post.tell({ merchant_id: kofi })
  dispatcher.requestPoll()
  await dispatcher.step()
  await until(() => sent.length === 2)
  expect(sent).toEqual([first, second])
  keeper.letGo()
  await dispatcher.finished()
})

test('2,400 of one and the same moment: none is overlooked, and none is sent twice', async () => {
  const seen: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      seen.push(idOf(request))
      return thanks()
    }),
  )
  for (const [at, merchant_id] of post.ids.entries())
    await post.addCrowd(merchant_id, 100, `https://shop${at}.example/ipn`)
  await post.db.rows(sql`update deliveries set next_try_at = ${post.clock()}`)
  dispatcher.requestPoll()
  while (seen.length < 2400) {
    await dispatcher.step()
    await new Promise(setImmediate)
  }
  await dispatcher.finished()
  expect([seen.length, new Set(seen).size]).toEqual([2400, 2400])
})

test('a crowd is let in as its lane has room: all are acknowledged once, eight at a time', async () => {
  const inFlight = { now: 0, most: 0 }
  const seen = new Map<string, number>()
  const dispatcher = post.dispatcher(
    playedOutbound(async request => {
      seen.set(idOf(request), (seen.get(idOf(request)) ?? 0) + attemptOf(request))
      inFlight.most = Math.max(inFlight.most, ++inFlight.now)
      await new Promise(setImmediate)
      inFlight.now--
      return thanks()
    }),
  )
  await post.addCrowd(ama, 1500, hangingShop)
  await carryAll(dispatcher)
  expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 1500 })
  expect([inFlight.most, seen.size, new Set(seen.values())]).toEqual([8, 1500, new Set([1])])
})

test('the process that held a crowd has died: another one finds it and brings it to its end', async () => {
  const dead = hangFor(() => true)
  const dying = post.dispatcher(dead.outbound)
  await post.addCrowd(ama, 1200, hangingShop)
  await stepUntilRest(dying, dead.keeper)
  expect((await tableOf()).parked).toBeGreaterThan(600)
  post.pass(seconds(31)) // it never comes back
  await carryAll(post.dispatcher(playedOutbound(thanks)))
  expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 1200 })
})

for (const [why, urlOf] of [
  ['a hundred addresses of its own', (at: number) => `https://shop${at % 100}.example/ipn`],
  ['a new address for every payment', (at: number) => `https://shop${at}.example/ipn`],
] as const)
  test(`a merchant with ${why}, all of which hang, keeps nobody else waiting`, async () => {
    const { keeper, sent, outbound } = hangFor(url => url !== 'https://kofi.example/ipn')
    const dispatcher = post.dispatcher(outbound)
    await post.addCrowd(ama, 700, hangingShop)
    await post.db.rows(sql`
      update deliveries d set lane = u.lane, url = u.lane || '/ipn'
      from unnest(${Array.from({ length: 700 }, (_, at) => `TG-${hangingShop}-${at + 1}`)}::text[],
        ${Array.from({ length: 700 }, (_, at) => new URL(urlOf(at)).origin)}::text[]) as u (tx_reference, lane)
      where d.tx_reference = u.tx_reference`)
    const told = await post.tell({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
    await stepUntilRest(dispatcher, keeper)
    expect(keeper.waiting).toHaveLength(8) // of sixteen: the others are for addresses that have proved good
    expect(sent).toEqual([told])
    while (keeper.waiting.length > 0) {
      keeper.letGo()
      await dispatcher.finished()
      await stepUntilRest(dispatcher, keeper)
    }
    expect(await tableOf()).toEqual({ parked: 0, due: 0, acknowledged: 701 })
  })

test('where half of the slots are taken, a crowd that already has some keeps nobody waiting who has none', async () => {
  const { keeper, sent, outbound } = hangFor(url => url !== 'https://kofi.example/ipn')
  const dispatcher = post.dispatcher(outbound)
  // Twenty merchants that answered well, and then hang: four lanes full, four with one.
  for (const [at, merchant_id] of post.ids.slice(2).entries())
    await post.addCrowd(merchant_id, 20, `https://shop${at}.example/ipn`)
  for (let wave = 0; wave < 2; wave++) {
    await stepUntilRest(dispatcher, keeper)
    keeper.letGo()
    await dispatcher.finished()
  }
  await stepUntilRest(dispatcher, keeper)
  expect(keeper.waiting.length).toBeGreaterThanOrEqual(64)
  post.pass(1000)
  for (const [at, merchant_id] of post.ids.slice(2).entries())
    await post.addCrowd(merchant_id, 100, `https://shop${at}.example/more`)
  post.pass(1000)
  const told = await post.tell({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
  await stepUntilRest(dispatcher, keeper)
  expect(sent).toEqual([told])
  keeper.letGo()
  await dispatcher.finished()
})

test('5,000 retries that are due take half of the slots at most, and no first try waits for them', async () => {
  const { keeper, sent, outbound } = hangFor(url => url.includes('again'))
  const dispatcher = post.dispatcher(outbound)
  for (let at = 0; at < 20; at++)
    await post.addCrowd(post.ids[at + 2] as string, 250, `https://again${at}.example/`, true)
  await post.db.rows(
    sql`update deliveries set url = replace(url, '//again', '//' || right(tx_reference, 1) || '.again'),
      begun_at = begun_at - interval '1 hour'`,
  )
  await stepUntilRest(dispatcher, keeper)
  expect(keeper.waiting).toHaveLength(64)
  const firsts = await Promise.all(Array.from({ length: 20 }, () => post.tell({ merchant_id: kofi })))
  while (sent.length < 20) await stepUntilRest(dispatcher, keeper)
  expect(sent.toSorted()).toEqual(firsts.toSorted())
  keeper.letGo()
  await dispatcher.finished()
})
