import { describe, expect, test } from 'vitest'
import { lockRows } from '../../support/database/lockRows.ts'
import { minutes, seconds } from '../../support/payments/rows.ts'
import { withoutSkipLocked } from '../../support/database/withoutSkipLocked.ts'
import {
  createRequestGate,
  failWith,
  idOf,
  fakeOutbound,
  referenceOf,
  respond,
  acknowledge,
} from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest, until } from './fixture.ts'

// Another transaction has locked rows of deliveries, as a node that is paused in a transaction does. Dispatchers do not
// wait for it.
const fixture = useDeliveryFixture(5)

async function whileLocked<T>(tx_reference: string, work: () => Promise<T>): Promise<T> {
  const unlock = await lockRows(
    fixture.url,
    'select 1 from deliveries where tx_reference = $1 and sequence = 1',
    [tx_reference],
  )
  try {
    return await work()
  } finally {
    await unlock()
  }
}

const urlOf = (at: number) => `https://shop${at}.example/ipn`

// One delivery of each merchant, the oldest first.
async function notifyAll() {
  const references: string[] = []
  for (const [at, merchant_id] of fixture.ids.entries()) {
    references.push(await fixture.notify({ merchant_id, url: urlOf(at) }))
    fixture.pass(10)
  }
  return references
}

const acknowledged = async () =>
  (await fixture.deliveries()).flatMap(one => (one.acknowledged_at ? [one.tx_reference] : [])).toSorted()

function createRecorder() {
  const sent: string[] = []
  const outbound = fakeOutbound(request => {
    sent.push(idOf(request))
    return acknowledge()
  })
  return { sent, outbound }
}

for (const [name, open] of [
  ['a database with SKIP LOCKED', () => fixture.db],
  ['a database without SKIP LOCKED', () => withoutSkipLocked(fixture.db).db],
] as const)
  describe(name, () => {
    for (const [age, at] of [
      ['oldest', 0],
      ['middle', 2],
      ['newest', 4],
    ] as const)
      test(`the ${age} row is locked: all others are sent and saved, and it is sent after the lock`, async () => {
        const references = await notifyAll()
        const lockedReference = references[at] as string
        const { sent, outbound } = createRecorder()
        const dispatcher = fixture.dispatcher(outbound, { db: open() })
        const others = references.filter(one => one !== lockedReference)
        await whileLocked(lockedReference, async () => {
          await stepUntilRest(dispatcher, { waiting: [] })
          await dispatcher.finished()
          expect(sent.map(id => id.replace('-N1', '')).toSorted()).toEqual(others.toSorted())
          expect(await acknowledged()).toEqual(others.toSorted())
          const later = await fixture.notify({ merchant_id: fixture.ids[at] as string, url: urlOf(at) })
          await stepUntilRest(dispatcher, { waiting: [] })
          await dispatcher.finished()
          expect(await acknowledged()).toEqual([...others, later].toSorted())
        })
        await dispatchAll(dispatcher)
        expect(sent).toHaveLength(6)
        expect(sent.at(-1)).toBe(`${lockedReference}-N1`)
        expect(fixture.troubles).toEqual([])
      })

    test('one of two siblings is locked: neither is sent, all others are, and then the older one is sent first', async () => {
      const references = await notifyAll()
      const [twice = ''] = references
      await fixture.notify({ merchant_id: fixture.ids[0] as string, tx_reference: twice, url: urlOf(0) })
      const { sent, outbound } = createRecorder()
      const dispatcher = fixture.dispatcher(outbound, { db: open() })
      await whileLocked(twice, async () => {
        await stepUntilRest(dispatcher, { waiting: [] })
        await dispatcher.finished()
        expect(await acknowledged()).toEqual(references.slice(1).toSorted())
      })
      await dispatchAll(dispatcher)
      expect(sent.slice(-2)).toEqual([`${twice}-N1`, `${twice}-N2`])
      expect(fixture.troubles).toEqual([])
    })

    for (const [word, answer, result] of [
      ['yes', acknowledge, 'acknowledged'],
      ['no', () => respond(500), 'server_error'],
    ] as const)
      test(`a result (${word}) whose row is locked is saved later, and those of other rows at once`, async () => {
        const references = await notifyAll()
        const [lockedReference = '', ...others] = references
        const gate = createRequestGate()
        const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold), { db: open() })
        await stepUntilRest(dispatcher, gate)
        const written = async () =>
          (await fixture.deliveries()).filter(one => one.last_result === result).map(one => one.tx_reference)
        await whileLocked(lockedReference, async () => {
          gate.release(answer)
          await until(async () => (await written()).length === others.length)
          expect((await written()).toSorted()).toEqual(others.toSorted())
        })
        await dispatcher.finished()
        expect((await written()).toSorted()).toEqual(references.toSorted())
        expect((await fixture.deliveries()).map(one => one.tries)).toEqual(references.map(() => 1))
        expect(fixture.troubles).toEqual([])
      })

    test('one delivery behind a dead endpoint is locked: the others are parked, and released past another locked one', async () => {
      const dead = 'https://dead.example/ipn'
      const [ama = '', kofi = ''] = fixture.ids
      const answers = { isDead: true }
      const dispatcher = fixture.dispatcher(
        fakeOutbound(request =>
          request.url === dead && answers.isDead ? failWith('no_connection') : acknowledge(),
        ),
        { db: open() },
      )
      for (let at = 0; at < 5; at++) await fixture.notify({ merchant_id: ama, url: dead })
      await dispatchAll(dispatcher) // now the breaker of this lane is open
      const references: string[] = []
      for (let at = 0; at < 4; at++) references.push(await fixture.notify({ merchant_id: ama, url: dead }))
      const parkedReferences = async () =>
        (await fixture.deliveries()).flatMap(one => (one.parked ? [one.tx_reference] : [])).toSorted()
      await whileLocked(references[1] as string, async () => {
        const other = await fixture.notify({ merchant_id: kofi })
        await stepUntilRest(dispatcher, { waiting: [] })
        await dispatcher.finished()
        expect(await acknowledged()).toEqual([other])
        expect(await parkedReferences()).toEqual(references.filter((_, at) => at !== 1).toSorted())
      })
      await dispatchAll(dispatcher)
      expect(await parkedReferences()).toEqual(references.toSorted())
      answers.isDead = false
      fixture.pass(minutes(2))
      await whileLocked(references[0] as string, async () => {
        await dispatchAll(dispatcher)
        expect(await acknowledged()).toEqual(expect.arrayContaining(references.slice(1)))
      })
    })
  })

test('a dispatcher that has taken all but a locked delivery rests', async () => {
  const [lockedReference = ''] = await notifyAll()
  const { outbound } = createRecorder()
  const dispatcher = fixture.dispatcher(outbound)
  await whileLocked(lockedReference, async () => {
    await stepUntilRest(dispatcher, { waiting: [] })
    const rests = []
    for (let polls = 0; polls < 3; polls++) {
      dispatcher.requestPoll()
      while ((await dispatcher.step()) > 0);
      rests.push(dispatcher.restMs() > 0)
    }
    expect(rests).toEqual([true, true, true])
  })
  await dispatcher.finished()
})

test('a locked backlog does not hide other deliveries', async () => {
  const [ama = '', kofi = ''] = fixture.ids
  await fixture.addBacklog(ama, 700, 'https://ama.example/ipn')
  fixture.pass(seconds(1))
  const reference = await fixture.notify({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
  const sent: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      sent.push(referenceOf(request))
      return acknowledge()
    }),
  )
  const unlock = await lockRows(fixture.url, 'select 1 from deliveries where merchant_id = $1', [ama])
  dispatcher.requestPoll()
  for (let steps = 0; steps < 30 && sent.length === 0; steps++) await dispatcher.step()
  await unlock()
  expect(sent).toEqual([reference])
  await dispatcher.finished()
})
