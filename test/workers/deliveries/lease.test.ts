import { beforeEach, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { seconds } from '../../support/payments/rows.ts'
import { attemptOf, createRequestGate, idOf, fakeOutbound, respond, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

const fixture = useDeliveryFixture()
beforeEach(async () => void (await fixture.notify({ merchant_id: fixture.ids[0] as string })))

const theDelivery = async () => (await fixture.deliveries())[0]

test('while one worker has the lease, no other takes the delivery; after the lease another does', async () => {
  const gate = createRequestGate()
  const [slow, other] = [
    fixture.dispatcher(fakeOutbound(gate.hold)),
    fixture.dispatcher(fakeOutbound(acknowledge)),
  ]
  await stepUntilRest(slow, gate)
  for (const [pass, tries] of [
    [0, 1],
    [seconds(29.999), 1],
    [1, 2],
  ] as const) {
    fixture.pass(pass)
    await dispatchAll(other)
    expect((await theDelivery())?.tries).toBe(tries)
  }
  gate.release()
  await slow.finished()
})

for (const [late, status] of [
  ['yes', 200],
  ['no', 404],
] as const)
  test(`a worker that was paused for too long saves a ${late}: the result of the other worker stays`, async () => {
    const gate = createRequestGate()
    const [away, other] = [
      fixture.dispatcher(fakeOutbound(gate.hold)),
      fixture.dispatcher(fakeOutbound(acknowledge)),
    ]
    await stepUntilRest(away, gate)
    fixture.pass(seconds(31))
    await dispatchAll(other)
    const settled = await theDelivery()
    expect(settled).toMatchObject({ tries: 2, last_result: 'acknowledged', next_try_at: null })
    fixture.pass(seconds(5))
    gate.release(() => respond(status))
    await away.finished()
    expect(await theDelivery()).toEqual(settled)
    expect((await fixture.tries()).map(one => [one.try, one.status])).toEqual([
      [1, status], // it did happen
      [2, 200],
    ])
  })

test('while the other worker is still sending, its lease stays', async () => {
  const [first, second] = [createRequestGate(), createRequestGate()]
  const [away, other] = [
    fixture.dispatcher(fakeOutbound(first.hold)),
    fixture.dispatcher(fakeOutbound(second.hold)),
  ]
  await stepUntilRest(away, first)
  fixture.pass(seconds(31))
  await stepUntilRest(other, second)
  const taken = await theDelivery()
  first.release()
  await away.finished()
  expect(await theDelivery()).toEqual(taken)
  second.release(() => respond(500))
  await other.finished()
  expect(await theDelivery()).toMatchObject({ last_result: 'server_error', acknowledged_at: null, tries: 2 })
})

test('a worker that is late but the only one: its result counts, and nothing is sent twice', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold))
  await stepUntilRest(dispatcher, gate)
  fixture.pass(seconds(60))
  gate.release()
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
    const outbound = fakeOutbound(request => {
      sent.push(`${idOf(request)} try ${attemptOf(request)}`)
      return acknowledge()
    })
    const dispatcher = fixture.dispatcher(outbound)
    // The query of the secret waits until the time has passed.
    await fixture.db.transaction(async tx => {
      await tx.rows(sql`lock table ipn_secrets in access exclusive mode`)
      await dispatcher.step()
      await until(() => dispatcher.inFlight() === 1)
      fixture.pass(away)
    })
    await dispatcher.finished()
    expect([sent.length, dispatcher.inFlight()]).toEqual([isSent ? 1 : 0, 0])
    fixture.pass(seconds(31))
    await dispatchAll(dispatcher)
    const { tx_reference } = (await theDelivery()) ?? {}
    expect(sent).toEqual([`${tx_reference}-N1 try ${isSent ? 1 : 2}`])
  })
