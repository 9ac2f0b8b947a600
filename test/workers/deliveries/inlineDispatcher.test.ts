import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { endLeasesOf } from '../../../src/store/notifications/deliveries.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import type { Dispatcher } from '../../../src/workers/deliveries/dispatcher.ts'
import { cuts, type PostgresProxy, startPostgresProxy } from '../../support/database/postgresProxy.ts'
import { changesOn } from '../../support/gateway/runtime.ts'
import { after, aPayment, hours, noon, seconds } from '../../support/payments/rows.ts'
import { createRequestGate, failWith, idOf, fakeOutbound, respond, acknowledge } from './answers.ts'
import { dispatchAll, openDeliveryFixture, type DeliveryFixture, until } from './fixture.ts'

// Inline dispatch: the process that commits a notification sends it without a poll.
let fixture: DeliveryFixture
let db: Db // of this node
let node: ReturnType<typeof changesOn>
let proxy: PostgresProxy
let ama: string
let kofi: string
beforeAll(async () => {
  fixture = await openDeliveryFixture(2)
  proxy = await startPostgresProxy(fixture.url)
  db = openDb(proxy.url, 4)
  node = changesOn(db)
  ;[ama, kofi] = fixture.ids as [string, string]
})
beforeEach(async () => {
  await fixture.db.rows(sql`truncate deliveries, notifications, tries, acknowledged_paths`)
  fixture.setNow(noon)
})
const ends: (() => void)[] = []
afterEach(() => {
  proxy.onStatement = () => undefined
  for (const end of ends.splice(0)) end()
})
afterAll(async () => {
  await db.end()
  await proxy.stop()
  await fixture.close()
})

async function addPayments(merchant_id: string, count: number, ipn_url = 'https://shop.example/ipn') {
  const payments = Array.from({ length: count }, (): Payment => {
    const tx_reference = newReference(fixture.clock())
    const dates = { created_at: noon, updated_at: noon, expires_at: after(hours(1)) }
    const tx_token = newToken(merchant_id, noon)
    return aPayment({ merchant_id, tx_reference, tx_token, invoice_id: tx_reference, ipn_url, ...dates })
  })
  await storePayments(fixture.db, payments)
  return payments
}

// A node that dispatches what it commits.
function openNode(
  answer = acknowledge,
  settings: Parameters<DeliveryFixture['dispatcher']>[1] = {},
  own = node,
) {
  const sent: string[] = []
  const gate = createRequestGate()
  const outbound = fakeOutbound(request => {
    sent.push(idOf(request))
    return request.url.includes('hangs') ? gate.hold(request) : answer()
  })
  const dispatcher = fixture.dispatcher(outbound, settings)
  const undispatched = { count: 0 }
  own.localWorkers.dispatch = { reserve: dispatcher.reserve, undispatched: () => void undispatched.count++ }
  ends.push(() => void (own.localWorkers.dispatch = undefined))
  return { sent, gate, dispatcher, undispatched }
}

const cancelAll = (payments: readonly Payment[]) =>
  Promise.all(payments.map(payment => cancel(node, payment, fixture.clock())))
const nameOf = ({ tx_reference }: Payment, sequence = 1) => `${tx_reference}-N${sequence}`
const areLeased = async () => (await fixture.deliveries()).map(one => one.lease_token !== null)

async function quiet(dispatcher: Dispatcher) {
  await dispatcher.finished()
  expect(dispatcher.inFlight()).toBe(0)
}

test('a delivery is sent and its result saved without a step of the dispatcher', async () => {
  const { sent, dispatcher, undispatched } = openNode()
  const payments = [...(await addPayments(ama, 1)), ...(await addPayments(kofi, 1))]
  await cancelAll(payments)
  await quiet(dispatcher)
  expect(sent.toSorted()).toEqual(payments.map(payment => nameOf(payment)).toSorted())
  for (const one of await fixture.deliveries())
    expect(one).toMatchObject({ tries: 1, last_try: 1, lease_token: null, next_try_at: null, alone: true })
  expect(undispatched.count).toBe(0)
  expect(fixture.troubles).toEqual([])
})

test('a delivery that the database refuses is not sent, its slot is free, and the others are sent', async () => {
  const { sent, dispatcher } = openNode()
  const [sick, ...others] = await addPayments(ama, 3)
  await fixture.db.rows(
    sql([
      `create or replace function poison() returns trigger language plpgsql as $$ begin
        if new.tx_reference = '${sick?.tx_reference}' then raise exception 'poison'; end if; return new; end $$`,
    ]),
  )
  await fixture.db.rows(
    sql`create trigger poison before insert on events for each row execute function poison()`,
  )
  const ended = await Promise.allSettled([sick as Payment, ...others].map(one => cancel(node, one, noon)))
  await fixture.db.rows(sql`drop trigger poison on events`)
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  await dispatchAll(dispatcher)
  await quiet(dispatcher)
  expect(sent.toSorted()).toEqual(others.map(payment => nameOf(payment)).toSorted())
})

for (const cut of cuts)
  test(`the commit is ${cut}: the delivery is sent once, and its slot is free`, async () => {
    const { sent, dispatcher } = openNode()
    const [payment] = (await addPayments(ama, 1)) as [Payment]
    let isCut = false
    proxy.onStatement = text => {
      if (text !== 'commit' || isCut) return undefined
      isCut = true
      return cut
    }
    await cancel(node, payment, noon)
    expect(isCut).toBe(true)
    await until(async () => (await fixture.deliveries()).every(one => one.lease_token === null))
    await dispatchAll(dispatcher)
    await quiet(dispatcher)
    expect(sent).toEqual([nameOf(payment)])
    expect(await fixture.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
  })

test('the answers to the commit and to all later statements are lost: the leases are undone later', async () => {
  const own = openDb(proxy.url, 1)
  const alone = changesOn(own)
  const { sent, dispatcher } = openNode(acknowledge, {}, alone)
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  let isCut = false
  proxy.onStatement = text => {
    isCut ||= text === 'commit'
    return isCut ? 'unheard' : undefined
  }
  await expect(cancel(alone, payment, noon)).rejects.toThrow()
  await own.end()
  expect(sent).toEqual([])
  await dispatcher.finished() // which has another way to the database
  expect(await fixture.deliveries()).toMatchObject([{ lease_token: null, lease_until: null, tries: 0 }])
  await dispatchAll(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
})

test('the deliveries of a dead node are sent by another node when their leases are ended', async () => {
  const dead = { token: () => 'n7-gone', isOurs: () => true, confirm: () => Promise.resolve(true) }
  const { sent, gate } = openNode(acknowledge, { leases: dead })
  const [payment] = (await addPayments(ama, 1, 'https://hangs.example/ipn')) as [Payment]
  await cancel(node, payment, noon)
  const other = fixture.dispatcher(fakeOutbound(acknowledge))
  await dispatchAll(other)
  expect(await fixture.deliveries()).toMatchObject([{ tries: 1, acknowledged_at: null }])
  expect(await endLeasesOf(fixture.db, 7, fixture.clock())).toBe(1)
  await dispatchAll(other)
  expect(await fixture.deliveries()).toMatchObject([{ tries: 2, last_result: 'acknowledged' }])
  await until(() => gate.waiting.length === 1)
  expect([sent, gate.waiting.length]).toEqual([[nameOf(payment)], 1])
  gate.release()
})

test('a node with uncertain leases sends nothing, and its deliveries become free', async () => {
  let isSure = true
  const leases = { token: () => 'n7-unsure', isOurs: () => isSure, confirm: () => Promise.resolve(isSure) }
  const { sent, dispatcher } = openNode(acknowledge, { leases })
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  proxy.onStatement = text => {
    if (text === 'commit') isSure = false
    return undefined
  }
  await cancel(node, payment, noon)
  await dispatcher.finished()
  expect(sent).toEqual([])
  expect(await fixture.deliveries()).toMatchObject([{ lease_token: null, tries: 0 }])
  const other = fixture.dispatcher(fakeOutbound(acknowledge))
  await dispatchAll(other)
  expect(await fixture.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
})

test('no other node takes a delivery in flight', async () => {
  const { sent, gate, dispatcher } = openNode()
  const other = fixture.dispatcher(fakeOutbound(acknowledge))
  const [payment] = (await addPayments(ama, 1, 'https://hangs.example/ipn')) as [Payment]
  await cancel(node, payment, noon)
  await dispatchAll(other)
  expect(await areLeased()).toEqual([true])
  await until(() => gate.waiting.length === 1)
  gate.release()
  await quiet(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
  expect(await fixture.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
})

test('a lane has a limited number of slots; a delivery without one waits for a poll, and waiting deliveries come first', async () => {
  const { sent, gate, dispatcher, undispatched } = openNode()
  const hanging = 'https://hangs.example/ipn'
  const payments = await addPayments(ama, 3, hanging)
  await cancelAll(payments)
  expect((await areLeased()).filter(Boolean)).toHaveLength(1) // a lane begins with one
  await until(() => sent.length > 0)
  expect([sent.length, undispatched.count]).toEqual([1, 1])
  dispatcher.requestPoll()
  await dispatcher.step() // now its due list has the waiting one
  gate.release()
  await until(() => dispatcher.inFlight() === 0)
  const [late] = (await addPayments(ama, 1, hanging)) as [Payment]
  await cancel(node, late, fixture.clock())
  expect(sent).toHaveLength(1)
  const carrying = dispatchAll(dispatcher)
  while (sent.length < 4) {
    await until(() => gate.waiting.length > 0)
    gate.release()
  }
  await carrying
  expect(sent.at(-1)).toBe(nameOf(late))
})

test('an open breaker stops new deliveries, too', async () => {
  const { sent, dispatcher, undispatched } = openNode(() => failWith('timeout'))
  for (const payment of await addPayments(ama, 5)) {
    await cancel(node, payment, noon)
    await dispatcher.finished()
  }
  expect(dispatcher.breakers()).toMatchObject([{ state: 'open' }])
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, payment, noon)
  await dispatcher.finished()
  expect([sent.length, undispatched.count]).toEqual([5, 1])
  fixture.pass(seconds(31)) // one at a time, to see: that is the dispatcher's choice
  const [another] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, another, fixture.clock())
  await dispatcher.finished()
  expect([sent.length, undispatched.count]).toEqual([5, 2])
})

test('a second notification of a payment waits for the first', async () => {
  const { sent, dispatcher, undispatched } = openNode(() => respond(500))
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await fixture.notify({ merchant_id: ama, tx_reference: payment.tx_reference }) // has not left yet
  await cancel(node, payment, noon)
  expect([await areLeased(), sent, undispatched.count]).toEqual([[false, false], [], 1])
  expect(dispatcher.inFlight()).toBe(0) // its slot was given back
  await dispatchAll(dispatcher)
  expect(sent[0]).toBe(nameOf(payment, 1))
})

test('in a pause no slot is reserved, and reservations from before are left to their lease', async () => {
  let paused: Promise<void> | undefined
  const { sent, dispatcher, undispatched } = openNode(acknowledge, { pause: () => paused })
  const [before, during] = (await addPayments(ama, 2)) as [Payment, Payment]
  proxy.onStatement = text => {
    if (text === 'commit') paused = new Promise(() => {})
    return undefined
  }
  await cancel(node, before, noon)
  await cancel(node, during, noon)
  await dispatcher.finished()
  expect([sent, undispatched.count]).toEqual([[], 1])
  expect((await areLeased()).filter(Boolean)).toHaveLength(1)
  paused = undefined
  fixture.pass(seconds(31))
  await dispatchAll(dispatcher)
  expect(sent.map(id => id.replace(/-N1$/, '')).toSorted()).toEqual(
    [before, during].map(({ tx_reference }) => tx_reference).toSorted(),
  )
})

test('without a dispatcher in this process the delivery is inserted without a lease', async () => {
  const { sent, dispatcher } = openNode()
  for (const end of ends.splice(0)) end()
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, payment, noon)
  expect([await areLeased(), sent]).toEqual([[false], []])
  await dispatchAll(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
})
