import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { noon, seconds } from '../../support/payments/rows.ts'
import { attemptOf, createGateKeeper, idOf, playedOutbound, says, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

let post: Post
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  await post.tell({ merchant_id: post.ids[0] as string })
})
afterAll(() => post.close())

const theDelivery = async () => (await post.deliveries())[0]

test('while one worker is at it, no other takes it; when its lease is over, another does', async () => {
  const monitor = createGateKeeper()
  const [slow, other] = [
    post.dispatcher(playedOutbound(monitor.hold)),
    post.dispatcher(playedOutbound(thanks)),
  ]
  await stepUntilRest(slow, monitor)
  for (const [pass, tries] of [
    [0, 1],
    [seconds(29.999), 1],
    [1, 2],
  ] as const) {
    post.pass(pass)
    await carryAll(other)
    expect((await theDelivery())?.tries).toBe(tries)
  }
  monitor.letGo()
  await slow.finished()
})

for (const [late, status] of [
  ['yes', 200],
  ['no', 404],
] as const)
  test(`a worker that was away for too long brings a ${late}: the other's result stands`, async () => {
    const monitor = createGateKeeper()
    const [away, other] = [
      post.dispatcher(playedOutbound(monitor.hold)),
      post.dispatcher(playedOutbound(thanks)),
    ]
    await stepUntilRest(away, monitor)
    post.pass(seconds(31))
    await carryAll(other)
    const settled = await theDelivery()
    expect(settled).toMatchObject({ tries: 2, last_result: 'acknowledged', next_try_at: null })
    post.pass(seconds(5))
    monitor.letGo(() => says(status))
    await away.finished()
    expect(await theDelivery()).toEqual(settled)
    expect((await post.tries()).map(one => [one.try, one.status])).toEqual([
      [1, status], // it did happen
      [2, 200],
    ])
  })

test('and while the other is still at it, its lease stays', async () => {
  const [first, second] = [createGateKeeper(), createGateKeeper()]
  const [away, other] = [
    post.dispatcher(playedOutbound(first.hold)),
    post.dispatcher(playedOutbound(second.hold)),
  ]
  await stepUntilRest(away, first)
  post.pass(seconds(31))
  await stepUntilRest(other, second)
  const taken = await theDelivery()
  first.letGo()
  await away.finished()
  expect(await theDelivery()).toEqual(taken)
  second.letGo(() => says(500))
  await other.finished()
  expect(await theDelivery()).toMatchObject({ last_result: 'server_error', acknowledged_at: null, tries: 2 })
})

test('a worker that is late but still alone: its result counts, and nothing is sent twice', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold))
  await stepUntilRest(dispatcher, monitor)
  post.pass(seconds(60))
  monitor.letGo()
  await dispatcher.finished()
  expect(await theDelivery()).toMatchObject({ last_result: 'acknowledged', next_try_at: null, tries: 1 })
})

for (const [away, isSent] of [
  [seconds(20), true],
  [seconds(20) + 1, false],
  [seconds(29), false],
  [seconds(300), false],
] as const)
  test(`a worker that sleeps ${away} ms between taking and sending ${isSent ? 'sends' : 'sends nothing'}`, async () => {
    const sent: string[] = []
    const outbound = playedOutbound(request => {
      sent.push(`${idOf(request)} try ${attemptOf(request)}`)
      return thanks()
    })
    const dispatcher = post.dispatcher(outbound)
    // The database keeps the secret back until the time has passed.
    await post.db.transaction(async tx => {
      await tx.rows(sql`lock table ipn_secrets in access exclusive mode`)
      await dispatcher.step()
      await until(() => dispatcher.inFlight() === 1)
      post.pass(away)
    })
    await dispatcher.finished()
    expect([sent.length, dispatcher.inFlight()]).toEqual([isSent ? 1 : 0, 0])
    post.pass(seconds(31))
    await carryAll(dispatcher)
    const { tx_reference } = (await theDelivery()) ?? {}
    expect(sent).toEqual([`${tx_reference}-N1 try ${isSent ? 1 : 2}`])
  })
