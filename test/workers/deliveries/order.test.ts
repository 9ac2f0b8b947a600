import { beforeAll, expect, test } from 'vitest'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import { sql } from '../../../src/store/db.ts'
import { takeAlone, takeAmongSiblings } from '../../../src/store/notifications/deliveries.ts'
import { after, noon, seconds } from '../../support/payments/rows.ts'
import { createRequestGate, idOf, fakeOutbound, respond, sequenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest } from './fixture.ts'

const fixture = useDeliveryFixture()
let ama: string
beforeAll(() => void (ama = fixture.ids[0] as string))

const notifyOf = async (tx_reference: string, times: number, url?: string) => {
  for (let at = 0; at < times; at++) await fixture.notify({ merchant_id: ama, tx_reference, url })
}

test('three deliveries of one payment are sent one after the other, the lowest sequence first', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold))
  await notifyOf('TG-1', 3)
  const order: string[][] = []
  for (let wave = 0; wave < 3; wave++) {
    await stepUntilRest(dispatcher, gate)
    order.push(gate.waiting.map(({ request }) => idOf(request)))
    gate.release()
    await dispatcher.finished()
  }
  expect(order).toEqual([['TG-1-N1'], ['TG-1-N2'], ['TG-1-N3']])
})

test('an older delivery that failed does not block the newer one; if both are due, the older one is sent first', async () => {
  const sent: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      sent.push(idOf(request))
      return sequenceOf(request) === 1 ? respond(404) : sent.length < 4 ? respond(500) : acknowledge()
    }),
  )
  await notifyOf('TG-1', 1)
  await dispatchAll(dispatcher)
  fixture.pass(seconds(5))
  await notifyOf('TG-1', 1)
  await dispatchAll(dispatcher)
  expect(sent).toEqual(['TG-1-N1', 'TG-1-N2'])
  fixture.pass(seconds(30)) // both are overdue, the older one for longer
  await notifyOf('TG-1', 1) // a first try, which polls return before any retry
  await dispatchAll(dispatcher)
  expect(sent.slice(2)).toEqual(['TG-1-N1', 'TG-1-N2', 'TG-1-N3'])
})

test('a delivery that waits in a backlog is not overtaken by a newer one of its payment', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold))
  await fixture.addBacklog(ama, 800, 'https://shop.example/ipn')
  await stepUntilRest(dispatcher, gate)
  const [last] = await fixture.db.rows<{ tx_reference: string; parked: boolean }>(
    sql`select tx_reference, parked from deliveries where parked order by begun_at desc limit 1`,
  )
  expect(last?.parked).toBe(true)
  fixture.pass(1000)
  await notifyOf(last?.tx_reference as string, 1)
  const sent: string[] = []
  while (gate.waiting.length > 0) {
    sent.push(...gate.waiting.map(({ request }) => idOf(request)))
    gate.release()
    await dispatcher.finished()
    await stepUntilRest(dispatcher, gate)
  }
  const own = sent.filter(id => id.startsWith(`${last?.tx_reference}-N`))
  expect(own.map(id => id.at(-1))).toEqual(['1', '2'])
  expect(sent).toHaveLength(801)
})

test('an older delivery in a dead lane does not block a newer one in another lane', async () => {
  const sent: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      if (request.url.includes('dead')) return { ...respond(500) }
      sent.push(idOf(request))
      return acknowledge()
    }),
  )
  for (let at = 0; at < 6; at++) await notifyOf(`TG-${at}`, 1, 'https://dead.example/')
  await dispatchAll(dispatcher)
  await notifyOf('TG-5', 1, 'https://new.example/')
  await dispatchAll(dispatcher)
  expect(sent).toEqual(['TG-5-N2'])
})

test('an outdated poll does not bring two deliveries of a payment in flight', async () => {
  await notifyOf('TG-1', 2)
  const [first, second] = (await fixture.deliveries()) as [Delivery, Delivery]
  const lease = { token: 'one', until: after(seconds(30)), now: noon }
  expect(await takeAmongSiblings(fixture.db, first, lease)).toMatchObject({ sequence: 1, tries: 1 })
  expect(await takeAlone(fixture.db, [second], { ...lease, token: 'two' })).toEqual([])
  expect(await takeAmongSiblings(fixture.db, second, { ...lease, token: 'three' })).toBeUndefined()
})
