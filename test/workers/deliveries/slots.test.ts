import { afterAll, beforeAll, expect, test } from 'vitest'
import { seconds } from '../../support/payments/rows.ts'
import { createRequestGate, fakeOutbound, respond } from './answers.ts'
import { dispatchAll, openDeliveryFixture, type DeliveryFixture, stepUntilRest } from './fixture.ts'

let fixture: DeliveryFixture
beforeAll(async () => void (fixture = await openDeliveryFixture(12)))
afterAll(() => fixture.close())

test('a slot is freed under the quota that it was taken from, although another worker has tried the delivery meanwhile', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold))
  const other = fixture.dispatcher(fakeOutbound(() => respond(404)))
  for (let at = 0; at < 6; at++) await fixture.notify({ merchant_id: fixture.ids[0] as string })
  await stepUntilRest(dispatcher, gate) // one is on its way, the others wait in sight
  await dispatchAll(other)
  fixture.pass(seconds(12))
  while (gate.waiting.length > 0) {
    gate.release()
    await dispatcher.finished()
    await dispatcher.step() // what it saw were first tries
    await stepUntilRest(dispatcher, gate)
  }
  expect((await fixture.deliveries()).every(({ acknowledged_at }) => acknowledged_at !== null)).toBe(true)

  for (const [at, merchant_id] of fixture.ids.slice(1).entries())
    for (let lane = 0; lane < 7; lane++)
      await fixture.addBacklog(merchant_id, 1, `https://shop${at}-${lane}.example/`, true)
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting).toHaveLength(64)
  gate.release()
  await dispatcher.finished()
})
