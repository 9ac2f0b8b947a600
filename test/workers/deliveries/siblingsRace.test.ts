import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { NotificationKey } from '../../../src/core/notification/notification.ts'
import { type Db, sql, type Tx } from '../../../src/store/db.ts'
import { takeAlone, takeAmongSiblings } from '../../../src/store/notifications/deliveries.ts'
import { beginAgain } from '../../../src/store/notifications/redeliveries.ts'
import { after, hours, noon, seconds } from '../../support/payments/rows.ts'
import { idOf, playedOutbound, says, sequenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post, until } from './post.ts'
import { addPayments, clear, faults, lane, tellIn, tellLocked, url } from './siblings.ts'

let post: Post
let ama: string
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await clear(post)
  ama = post.ids[0] as string
})
afterAll(() => post.close())

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
    post.clock(),
  )

const leaseOf = (token: string) => ({ token, until: after(seconds(30), post.clock()), now: post.clock() })
const alone = (tx: Tx, sequence: number) => takeAlone(tx, [keyOf(sequence)], leaseOf(`alone ${sequence}`))
const amongSiblings = (db = post.db) =>
  takeAmongSiblings(db, { merchant_id: ama, tx_reference: 'TG-1', lane }, leaseOf('among siblings'))

// Starts what may have to wait for a lock of ours; goes on when it waits, or is done.
async function meanwhile<T>(work: () => Promise<T>): Promise<Promise<T>[]> {
  let isDone = false
  const working = work().finally(() => void (isDone = true))
  working.catch(() => {})
  await until(async () => isDone || (await isSomeoneWaiting()))
  return [working] // in an array, so that it is not waited for
}
const isSomeoneWaiting = async () =>
  (
    await post.db.rows(sql`
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

// A transaction in which something happens after each statement.
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
  (await post.deliveries()).map(one => [
    one.sequence,
    one.alone,
    one.next_try_at !== null,
    (one.lease_until ?? noon) > post.clock(),
  ])

// All that has not ended arrives, the lowest first.
async function carryTheRest(): Promise<string[]> {
  const sent: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      sent.push(idOf(request))
      return thanks()
    }),
  )
  post.pass(seconds(31)) // what was taken here was taken for nobody
  await carryAll(dispatcher)
  expect((await post.deliveries()).every(one => one.acknowledged_at !== null)).toBe(true)
  expect([await faults(post), post.troubles]).toEqual([[], []])
  return sent
}

// The first has ended; the second is due and alone.
async function oneEndedOneDue() {
  await addPayments(post, 'TG-1')
  await tellLocked(post)
  await carryAll(post.dispatcher(playedOutbound(thanks)))
  post.pass(hours(1))
  await tellLocked(post)
  expect(await state()).toEqual([
    [1, true, false, false],
    [2, true, true, false],
  ])
}

// The second has ended since: the first is alone again, and nobody has noticed yet.
async function oneDueThatHadASibling() {
  await addPayments(post, 'TG-1')
  await tellLocked(post)
  await tellLocked(post)
  const dispatcher = post.dispatcher(
    playedOutbound(request => (sequenceOf(request) === 1 ? says(404) : thanks())),
  )
  await carryAll(dispatcher)
  post.pass(seconds(15))
  expect(await state()).toEqual([
    [1, false, true, false],
    [2, false, false, false],
  ])
}

describe('a race', () => {
  test('one is begun again by hand, and its sibling is taken before that is committed: it is not', async () => {
    await oneEndedOneDue()
    const [taking] = await post.db.transaction(async tx => {
      await again(tx, 1)
      return meanwhile(() => alone(post.db, 2))
    })
    expect(await taking).toEqual([])
    expect(await state()).toEqual([
      [1, false, true, false],
      [2, false, true, false],
    ])
    expect(await amongSiblings()).toMatchObject({ sequence: 1, tries: 2 })
    expect(await alone(post.db, 2)).toEqual([])
    expect(await amongSiblings()).toBeUndefined()
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('one is taken, and its sibling is begun again by hand before that is committed: it waits', async () => {
    await oneEndedOneDue()
    const [beginning] = await post.db.transaction(async tx => {
      expect(await alone(tx, 2)).toHaveLength(1)
      return meanwhile(() => redeliver(post.db, keyOf(1), post.clock()))
    })
    expect(await beginning).toMatchObject({ redelivered: 1 })
    expect(await state()).toEqual([
      [1, false, true, false],
      [2, false, true, true],
    ])
    expect([await alone(post.db, 1), await amongSiblings()]).toEqual([[], undefined])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  for (const statement of [1, 2, 3, 4])
    test(`one is taken after statement ${statement} of beginning its sibling again: never are both on their way`, async () => {
      await oneEndedOneDue()
      const [taking] = await post.db.transaction(async tx => {
        let waiting: Promise<unknown>[] = []
        const happens = async (at: number) => {
          if (at === statement) waiting = await meanwhile(() => alone(post.db, 2))
        }
        await again(interrupted(tx, happens), 1)
        return waiting
      })
      await taking
      const isOnItsWay = (await state())[1]?.[3]
      expect([await alone(post.db, 1), await alone(post.db, 2), await faults(post)]).toEqual([[], [], []])
      expect((await amongSiblings())?.sequence).toBe(isOnItsWay ? undefined : 1)
      await carryTheRest()
    })

  test('both are told of at the same time, one by hand: each knows of the other', async () => {
    await addPayments(post, 'TG-1')
    await tellLocked(post)
    await carryAll(post.dispatcher(playedOutbound(thanks)))
    const [beginning] = await post.db.transaction(async tx => {
      await tellIn(post, tx)
      return meanwhile(() => redeliver(post.db, keyOf(1), post.clock()))
    })
    expect(await beginning).toMatchObject({ redelivered: 1 })
    expect(await faults(post)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('and in the other order', async () => {
    await addPayments(post, 'TG-1')
    await tellLocked(post)
    await carryAll(post.dispatcher(playedOutbound(thanks)))
    const [telling] = await post.db.transaction(async tx => {
      await again(tx, 1)
      return meanwhile(() => tellLocked(post))
    })
    expect(await telling).toEqual({ sequence: 2 })
    expect(await faults(post)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('two are begun again by hand at the same time', async () => {
    await oneEndedOneDue()
    await carryAll(post.dispatcher(playedOutbound(thanks)))
    const [beginning] = await post.db.transaction(async tx => {
      await again(tx, 2)
      return meanwhile(() => redeliver(post.db, keyOf(1), post.clock()))
    })
    await beginning
    expect(await faults(post)).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('a new one is told of, and the only one before it is taken before that is committed', async () => {
    await addPayments(post, 'TG-1')
    await tellLocked(post)
    const [taking] = await post.db.transaction(async tx => {
      await tellIn(post, tx)
      return meanwhile(() => alone(post.db, 1))
    })
    expect([await taking, await faults(post)]).toEqual([[], []])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('and in the other order: the new one waits', async () => {
    await addPayments(post, 'TG-1')
    await tellLocked(post)
    const [telling] = await post.db.transaction(async tx => {
      expect(await alone(tx, 1)).toHaveLength(1)
      return meanwhile(() => tellLocked(post))
    })
    await telling
    expect([await alone(post.db, 2), await amongSiblings(), await faults(post)]).toEqual([[], undefined, []])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  for (const [what, begin, sequence] of [
    ['a new one is told of', (tx: Tx) => tellIn(post, tx), 3],
    ['its sibling is begun again', (tx: Tx) => again(tx, 2), 2],
  ] as const)
    test(`${what}, and one that had a sibling is taken before that is committed: it is not alone`, async () => {
      await oneDueThatHadASibling()
      const [taking] = await post.db.transaction(async tx => {
        await begin(tx)
        return meanwhile(() => amongSiblings())
      })
      expect(await taking).toBeUndefined() // not now: somebody holds it
      expect(await amongSiblings()).toMatchObject({ sequence: 1 })
      expect([await faults(post), await alone(post.db, sequence), await amongSiblings()]).toEqual([
        [],
        [],
        undefined,
      ])
      await carryTheRest()
    })

  test('one that had a sibling is taken, and another is begun before that is committed: it is not alone', async () => {
    await oneDueThatHadASibling()
    const [beginning] = await post.db.transaction(async tx => {
      const inside: Db = { ...post.db, transaction: work => work(tx) }
      expect(await amongSiblings(inside)).toMatchObject({ sequence: 1 })
      return meanwhile(() => redeliver(post.db, keyOf(2), post.clock()))
    })
    await beginning
    expect([await faults(post), await alone(post.db, 2), await amongSiblings()]).toEqual([[], [], undefined])
    await carryTheRest()
  })

  for (const statement of [1, 2, 3, 4])
    test(`two are due, one is begun again and one is taken after statement ${statement} of that: no deadlock`, async () => {
      await addPayments(post, 'TG-1')
      await tellLocked(post)
      await tellLocked(post)
      const [hand, worker] = [counting(post.db), counting(post.db)]
      let waiting: Promise<unknown>[] = []
      const happens = async (at: number) => {
        if (at === statement) waiting = await meanwhile(() => amongSiblings(worker.db))
      }
      await hand.db.transaction(tx => again(interrupted(tx, happens), 2))
      await Promise.all(waiting)
      expect([hand.runs(), worker.runs(), await faults(post)]).toEqual([1, 1, []])
      await carryTheRest()
    })
})
