import { beforeAll, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { takeAlone, takeAmongSiblings } from '../../../src/store/notifications/deliveries.ts'
import { beginAgain } from '../../../src/store/notifications/redeliveries.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { idOf, fakeOutbound, respond, sequenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture, until } from './fixture.ts'
import { addPayments, faults, lane, notifyIn, notifyLocked, url } from './siblings.ts'

const fixture = useDeliveryFixture()
let ama: string
beforeAll(() => void (ama = fixture.ids[0] as string))

const keyOf = (sequence: number, tx_reference = 'TG-1'): NotificationKey => ({
  merchant_id: ama,
  tx_reference,
  sequence,
})

const again = (tx: Tx, ...sequences: number[]) =>
  beginAgain(
    tx,
    sequences.map(sequence => ({
      ...keyOf(sequence),
      mode: 'test',
      url,
      lane,
      style: 'post',
      created_at: noon,
    })),
    fixture.clock(),
  )

const leaseOf = (token: string) => ({
  token,
  until: after(seconds(30), fixture.clock()),
  now: fixture.clock(),
})
const alone = (tx: Tx, sequence: number) => takeAlone(tx, [keyOf(sequence)], leaseOf(`alone ${sequence}`))
const amongSiblings = (db = fixture.db) =>
  takeAmongSiblings(db, { merchant_id: ama, tx_reference: 'TG-1', lane }, leaseOf('among siblings'))

// Starts work that may wait for a lock of this test. Returns when the work waits or is done.
async function meanwhile<T>(work: () => Promise<T>): Promise<Promise<T>[]> {
  let isDone = false
  const working = work().finally(() => void (isDone = true))
  working.catch(() => {})
  await until(async () => isDone || (await isSomeoneWaiting()))
  return [working] // in an array, so that it is not waited for
}
const isSomeoneWaiting = async () =>
  (
    await fixture.db.rows(sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
  ).length > 0

// Counts how often a transaction runs: more than once after a deadlock.
function counting(db: Db) {
  let runs = 0
  const counted: Db = {
    ...db,
    transaction: work =>
      db.transaction(tx => {
        runs++
        return work(tx)
      }),
  }
  return { db: counted, runs: () => runs }
}

// A transaction that calls a function after each statement.
const interrupted = (tx: Tx, happens: (statement: number) => Promise<void>): Tx => {
  let statement = 0
  return {
    ...tx,
    async rows<Row>(query: Parameters<Tx['rows']>[0]) {
      const rows = await tx.rows<Row>(query)
      await happens(++statement)
      return rows
    },
  }
}

const state = async () =>
  (await fixture.deliveries()).map(one => [
    one.sequence,
    one.alone,
    one.next_try_at !== null,
    (one.lease_until ?? noon) > fixture.clock(),
  ])

// Sends all open deliveries, the lowest sequence first.
async function carryTheRest(): Promise<string[]> {
  const sent: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      sent.push(idOf(request))
      return acknowledge()
    }),
  )
  fixture.pass(seconds(31)) // the leases of this test are over
  await dispatchAll(dispatcher)
  expect((await fixture.deliveries()).every(one => one.acknowledged_at !== null)).toBe(true)
  expect([await faults(fixture), fixture.troubles]).toEqual([[], []])
  return sent
}

// The first has ended; the second is due and alone.
async function oneEndedOneDue() {
  await addPayments(fixture, 'TG-1')
  await notifyLocked(fixture)
  await dispatchAll(fixture.dispatcher(fakeOutbound(acknowledge)))
  fixture.pass(hours(1))
  await notifyLocked(fixture)
  expect(await state()).toEqual([
    [1, true, false, false],
    [2, true, true, false],
  ])
}

// The second has ended since: the first is alone again, but not marked as alone yet.
async function oneDueThatHadASibling() {
  await addPayments(fixture, 'TG-1')
  await notifyLocked(fixture)
  await notifyLocked(fixture)
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => (sequenceOf(request) === 1 ? respond(404) : acknowledge())),
  )
  await dispatchAll(dispatcher)
  fixture.pass(seconds(15))
  expect(await state()).toEqual([
    [1, false, true, false],
    [2, false, false, false],
  ])
}

describe('a race', () => {
  test('a redelivery is not committed yet: its sibling is not taken', async () => {
    await oneEndedOneDue()
    const [taking] = await fixture.db.transaction(async tx => {
      await again(tx, 1)
      return meanwhile(() => alone(fixture.db, 2))
    })
    expect(await taking).toEqual([])
    expect(await state()).toEqual([
      [1, false, true, false],
      [2, false, true, false],
    ])
    expect(await amongSiblings()).toMatchObject({ sequence: 1, tries: 2 })
    expect(await alone(fixture.db, 2)).toEqual([])
    expect(await amongSiblings()).toBeUndefined()
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('a lease is not committed yet: the redelivery of the sibling waits', async () => {
    await oneEndedOneDue()
    const [beginning] = await fixture.db.transaction(async tx => {
      expect(await alone(tx, 2)).toHaveLength(1)
      return meanwhile(() => redeliver(fixture.db, keyOf(1), fixture.clock()))
    })
    expect(await beginning).toMatchObject({ redelivered: 1 })
    expect(await state()).toEqual([
      [1, false, true, false],
      [2, false, true, true],
    ])
    expect([await alone(fixture.db, 1), await amongSiblings()]).toEqual([[], undefined])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  for (const statement of [1, 2, 3, 4])
    test(`a delivery is taken after statement ${statement} of the redelivery of its sibling: never are both in flight`, async () => {
      await oneEndedOneDue()
      const [taking] = await fixture.db.transaction(async tx => {
        let waiting: Promise<unknown>[] = []
        const happens = async (at: number) => {
          if (at === statement) waiting = await meanwhile(() => alone(fixture.db, 2))
        }
        await again(interrupted(tx, happens), 1)
        return waiting
      })
      await taking
      const isOnItsWay = (await state())[1]?.[3]
      expect([await alone(fixture.db, 1), await alone(fixture.db, 2), await faults(fixture)]).toEqual([
        [],
        [],
        [],
      ])
      expect((await amongSiblings())?.sequence).toBe(isOnItsWay ? undefined : 1)
      await carryTheRest()
    })

  test('a status change and a redelivery at the same time: neither is marked as alone', async () => {
    await addPayments(fixture, 'TG-1')
    await notifyLocked(fixture)
    await dispatchAll(fixture.dispatcher(fakeOutbound(acknowledge)))
    const [beginning] = await fixture.db.transaction(async tx => {
      await notifyIn(fixture, tx)
      return meanwhile(() => redeliver(fixture.db, keyOf(1), fixture.clock()))
    })
    expect(await beginning).toMatchObject({ redelivered: 1 })
    expect(await faults(fixture)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('in the other order', async () => {
    await addPayments(fixture, 'TG-1')
    await notifyLocked(fixture)
    await dispatchAll(fixture.dispatcher(fakeOutbound(acknowledge)))
    const [telling] = await fixture.db.transaction(async tx => {
      await again(tx, 1)
      return meanwhile(() => notifyLocked(fixture))
    })
    expect(await telling).toEqual({ sequence: 2 })
    expect(await faults(fixture)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('two redeliveries at the same time', async () => {
    await oneEndedOneDue()
    await dispatchAll(fixture.dispatcher(fakeOutbound(acknowledge)))
    const [beginning] = await fixture.db.transaction(async tx => {
      await again(tx, 2)
      return meanwhile(() => redeliver(fixture.db, keyOf(1), fixture.clock()))
    })
    await beginning
    expect(await faults(fixture)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('a status change is not committed yet: the only delivery before it is not taken', async () => {
    await addPayments(fixture, 'TG-1')
    await notifyLocked(fixture)
    const [taking] = await fixture.db.transaction(async tx => {
      await notifyIn(fixture, tx)
      return meanwhile(() => alone(fixture.db, 1))
    })
    expect([await taking, await faults(fixture)]).toEqual([[], []])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('in the other order: the new delivery waits', async () => {
    await addPayments(fixture, 'TG-1')
    await notifyLocked(fixture)
    const [telling] = await fixture.db.transaction(async tx => {
      expect(await alone(tx, 1)).toHaveLength(1)
      return meanwhile(() => notifyLocked(fixture))
    })
    await telling
    expect([await alone(fixture.db, 2), await amongSiblings(), await faults(fixture)]).toEqual([
      [],
      undefined,
      [],
    ])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  for (const [what, begin, sequence] of [
    ['a status change adds one', (tx: Tx) => notifyIn(fixture, tx), 3],
    ['its sibling is redelivered', (tx: Tx) => again(tx, 2), 2],
  ] as const)
    test(`${what}, which is not committed yet, and one that had a sibling is taken: it is not marked as alone`, async () => {
      await oneDueThatHadASibling()
      const [taking] = await fixture.db.transaction(async tx => {
        await begin(tx)
        return meanwhile(() => amongSiblings())
      })
      expect(await taking).toBeUndefined() // its row is locked
      expect(await amongSiblings()).toMatchObject({ sequence: 1 })
      expect([await faults(fixture), await alone(fixture.db, sequence), await amongSiblings()]).toEqual([
        [],
        [],
        undefined,
      ])
      await carryTheRest()
    })

  test('one that had a sibling is taken, and another redelivery starts before the commit: it is not marked as alone', async () => {
    await oneDueThatHadASibling()
    const [beginning] = await fixture.db.transaction(async tx => {
      const inside: Db = { ...fixture.db, transaction: work => work(tx) }
      expect(await amongSiblings(inside)).toMatchObject({ sequence: 1 })
      return meanwhile(() => redeliver(fixture.db, keyOf(2), fixture.clock()))
    })
    await beginning
    expect([await faults(fixture), await alone(fixture.db, 2), await amongSiblings()]).toEqual([
      [],
      [],
      undefined,
    ])
    await carryTheRest()
  })

  for (const statement of [1, 2, 3, 4])
    test(`two are due, one is redelivered and one is taken after statement ${statement} of that: no deadlock`, async () => {
      await addPayments(fixture, 'TG-1')
      await notifyLocked(fixture)
      await notifyLocked(fixture)
      const [hand, worker] = [counting(fixture.db), counting(fixture.db)]
      let waiting: Promise<unknown>[] = []
      const happens = async (at: number) => {
        if (at === statement) waiting = await meanwhile(() => amongSiblings(worker.db))
      }
      await hand.db.transaction(tx => again(interrupted(tx, happens), 2))
      await Promise.all(waiting)
      expect([hand.runs(), worker.runs(), await faults(fixture)]).toEqual([1, 1, []])
      await carryTheRest()
    })
})
