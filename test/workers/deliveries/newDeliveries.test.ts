import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { type Db } from '../../../src/store/db.ts'
import { seconds } from '../../support/payments/rows.ts'
import { createRequestGate, failWith, fakeOutbound, referenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

const fixture = useDeliveryFixture(2)
let ama: string
let kofi: string
beforeAll(() => void ([ama, kofi] = fixture.ids as [string, string]))

const hangingShop = 'https://hangs.example/ipn'
const deadShop = 'https://dead.example/ipn'

// One shop hangs, another is dead, all others acknowledge.
function openTown(db?: Db) {
  const gate = createRequestGate()
  const sent: string[] = []
  const outbound = fakeOutbound(request => {
    if (request.url === hangingShop) return gate.hold(request)
    if (request.url === deadShop) return failWith('timeout')
    sent.push(referenceOf(request))
    return acknowledge()
  })
  return { gate: gate, sent, dispatcher: fixture.dispatcher(outbound, { db }) }
}

// Releases the backlog, after all tries in flight have reached the gate: a later one would wait there for ever.
async function close({ gate, dispatcher }: Pick<ReturnType<typeof openTown>, 'gate' | 'dispatcher'>) {
  await dispatcher.flushed()
  await until(() => dispatcher.inFlight() === gate.waiting.length)
  gate.release()
  await dispatcher.finished()
}

const heldOf = async (merchant_id: string) =>
  (await fixture.deliveries()).filter(one => one.parked && one.merchant_id === merchant_id).length

for (const [who, isOurs] of [
  ['this process', true],
  ['another process', false],
] as const)
  test(`what ${who} has just committed is sent by the first step, although 20,000 are due before it`, async () => {
    const town = openTown()
    const { sent, dispatcher } = town
    await fixture.addBacklog(ama, 20_000, hangingShop)
    const reference = await fixture.notify({ merchant_id: kofi })
    if (isOurs) dispatcher.requestNewestPoll()
    await dispatcher.step()
    await until(() => sent.length > 0)
    expect(sent).toEqual([reference])
    await close(town)
  })

test('a wake-up is enough while the due list has a backlog', async () => {
  const town = openTown()
  const { sent, dispatcher } = town
  await fixture.addBacklog(ama, 2000, hangingShop)
  await dispatcher.step()
  for (let at = 1; at <= 5; at++) {
    fixture.pass(50)
    const reference = await fixture.notify({ merchant_id: kofi })
    dispatcher.requestNewestPoll()
    await dispatcher.step()
    await until(() => sent.length === at)
    expect(sent.at(-1)).toBe(reference)
  }
  await close(town)
})

test('deliveries that were committed while the worker was paused are found before the backlog', async () => {
  const town = openTown()
  const { sent, dispatcher } = town
  await fixture.addBacklog(ama, 20_000, hangingShop)
  await dispatcher.step()
  const reference = await fixture.notify({ merchant_id: kofi })
  fixture.pass(seconds(5))
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  await until(() => sent.length > 0)
  expect(sent).toEqual([reference])
  await close(town)
})

test('new deliveries that wait for their lane stay on the due list before a backlog, however long they wait', async () => {
  const town = openTown()
  const { gate, dispatcher } = town
  await fixture.addBacklog(ama, 20_000, hangingShop)
  const first = await fixture.notify({ merchant_id: kofi, url: hangingShop })
  const second = await fixture.notify({ merchant_id: kofi, url: hangingShop })
  const ofKofi = () => gate.waiting.filter(({ request }) => request.lane === kofi)
  await dispatcher.step()
  await until(() => ofKofi().length === 1)
  for (let poll = 0; poll < 3; poll++) {
    fixture.pass(seconds(1))
    dispatcher.requestPoll()
    await dispatcher.step()
  }
  const [one] = ofKofi()
  gate.waiting.splice(0, 1000, ...gate.waiting.filter(other => other !== one))
  one?.answer(acknowledge())
  await until(() => dispatcher.inFlight() === gate.waiting.length)
  await dispatcher.step()
  await until(() => ofKofi().length === 1)
  expect([one, ...ofKofi()].map(each => each && referenceOf(each.request))).toEqual([first, second])
  await close(town)
})

test('new deliveries are not parked with the backlog of their lane', async () => {
  const town = openTown()
  const { dispatcher } = town
  await fixture.addBacklog(ama, 2000, hangingShop)
  for (let at = 0; at < 10; at++) await fixture.notify({ merchant_id: kofi, url: hangingShop })
  await dispatcher.step()
  await dispatcher.flushed()
  expect([await heldOf(kofi), (await heldOf(ama)) > 0]).toEqual([0, true])
  await close(town)
})

test('new deliveries are polled and taken separately, before the full poll', async () => {
  const polls: unknown[][] = []
  const db: Db = {
    ...fixture.db,
    tuples: query => {
      if (query.text.includes('from deliveries')) polls.push([...query.values])
      return fixture.db.tuples(query)
    },
  }
  const town = openTown(db)
  const { sent, dispatcher } = town
  await fixture.addBacklog(ama, 2000, hangingShop)
  await dispatcher.step()
  const reference = await fixture.notify({ merchant_id: kofi })
  dispatcher.requestPoll()
  dispatcher.requestNewestPoll()
  const before = polls.length
  await dispatcher.step()
  expect(polls.length - before).toBe(1)
  await until(() => sent.length > 0)
  expect(sent).toEqual([reference])
  expect(dispatcher.restMs()).toBe(0) // the others follow
  await dispatcher.step()
  expect(polls.length - before).toBeGreaterThan(1)
  await close(town)
})

test('a wake-up before the commit is visible: the next poll finds the delivery', async () => {
  const { gate, sent, dispatcher } = openTown()
  await stepUntilRest(dispatcher, gate)
  const reference = await fixture.notify({ merchant_id: kofi })
  fixture.pass(seconds(5))
  dispatcher.requestNewestPoll()
  await until(async () => {
    await dispatcher.step()
    return sent.length > 0
  })
  expect(sent).toEqual([reference])
  await dispatcher.finished()
})

test('a second wake-up during the poll of the first is not lost', async () => {
  const { gate, sent, dispatcher } = openTown()
  await stepUntilRest(dispatcher, gate)
  const first = await fixture.notify({ merchant_id: kofi })
  dispatcher.requestNewestPoll()
  const step = dispatcher.step()
  const second = await fixture.notify({ merchant_id: ama })
  dispatcher.requestNewestPoll()
  await step
  expect(dispatcher.restMs()).toBe(0)
  await dispatcher.step()
  await until(() => sent.length === 2)
  expect(sent.toSorted()).toEqual([first, second].toSorted())
  await dispatcher.finished()
})

// A database that parks nothing until the test allows it.
function slowToPutAway() {
  let goOn: (() => void) | undefined
  const gate = new Promise<void>(resolve => void (goOn = resolve))
  const db: Db = {
    ...fixture.db,
    transaction: work =>
      fixture.db.transaction(tx =>
        work({
          ...tx,
          async count(query) {
            if (query.text.includes('set parked = true')) await gate
            return tx.count(query)
          },
        }),
      ),
  }
  return { db, goOn: () => goOn?.() }
}

test('deliveries that can be sent do not wait until others are parked', async () => {
  const { db, goOn } = slowToPutAway()
  const { sent, dispatcher } = openTown(db)
  for (let at = 0; at < 5; at++) await fixture.notify({ merchant_id: ama, url: deadShop })
  await dispatchAll(dispatcher) // and its breaker is open
  await fixture.notify({ merchant_id: ama, url: deadShop })
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  const tidied = dispatcher.flushed()
  const reference = await fixture.notify({ merchant_id: kofi })
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  await until(() => sent.length > 0)
  expect(sent).toEqual([reference])
  const isTidied = await Promise.race([tidied.then(() => true), nextTurn(false)])
  expect(isTidied).toBe(false)
  goOn()
  await dispatcher.finished()
  expect(await heldOf(ama)).toBe(1)
  expect(fixture.troubles).toEqual([])
})
