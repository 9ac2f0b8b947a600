import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { redeliver } from '../../src/actions/redeliver.ts'
import { laneOf } from '../../src/core/delivery.ts'
import type { NotificationKey } from '../../src/core/notification.ts'
import type { OutboundRequest } from '../../src/net/outbound.ts'
import { type Db, sql, type Tx } from '../../src/store/db.ts'
import { takeAlone, takeAmongSiblings } from '../../src/store/deliveries.ts'
import { addNotification } from '../../src/store/notifications.ts'
import { lockPayment } from '../../src/store/paymentLife.ts'
import { storePayments } from '../../src/store/payments.ts'
import { beginAgain } from '../../src/store/redeliveries.ts'
import { everyTry } from '../../src/store/tries.ts'
import { createDice } from '../life/dice.ts'
import { after, aPayment, hours, minutes, noon, seconds } from '../support/lifeRows.ts'
import {
  attemptOf,
  createGateKeeper,
  idOf,
  playedOutbound,
  referenceOf,
  says,
  sequenceOf,
  thanks,
} from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

const url = 'https://shop.example/ipn'
const lane = laneOf(url)

let post: Post
let ama: string
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  await post.db.rows(sql`delete from payments`)
  post.setNow(noon)
  post.troubles.length = 0
  ama = post.ids[0] as string
})
afterAll(() => post.close())

const keyOf = (sequence: number, tx_reference = 'TG-1'): NotificationKey => ({
  merchant_id: ama,
  tx_reference,
  sequence,
})

const addPayments = (...references: string[]) =>
  storePayments(
    post.db,
    references.map(tx_reference =>
      aPayment({
        merchant_id: ama,
        tx_reference,
        invoice_id: tx_reference,
        tx_token: `token ${tx_reference}`,
      }),
    ),
  )

// Payments of which two deliveries have not ended and one of them believes that it is alone; those with two on their
// way; and tries that are told twice.
const faults = () =>
  post.db.rows<{ fault: string }>(sql`
    select 'not alone: ' || tx_reference as fault from deliveries where next_try_at is not null
    group by tx_reference having count(*) > 1 and bool_or(alone)
    union all select 'two at once: ' || tx_reference from deliveries where lease_until > ${post.clock()}
    group by tx_reference having count(*) > 1
    union all select 'told twice: ' || tx_reference || ' ' || sequence || ' ' || try from ${everyTry} t
    group by tx_reference, sequence, try having count(*) > 1`)

describe('a long walk of everything that begins, carries and ends deliveries', () => {
  for (let walk = 0; walk < 3; walk++)
    test(`walk ${walk + 1}: whoever believes to be alone is, and no payment has two on their way`, async () => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const { dice, pick } = createDice(seed)
      const payments = ['TG-1', 'TG-2', 'TG-3', 'TG-4']
      const places = [url, url, 'https://other.example/', 'https://third.example/']
      await addPayments(...payments)
      const leftAt = new Map<OutboundRequest, number>()
      const workers = [0, 1, 2].map(at => {
        const keeper = createGateKeeper()
        const outbound = playedOutbound(request => {
          leftAt.set(request, post.clock().getTime())
          return keeper.hold(request)
        })
        return { keeper, courier: post.courier(outbound, { seed: seed + at }) }
      })
      type Held = (typeof workers)[number]['keeper']['waiting'][number]

      // By the requests themselves; one that is older than its lease does not count.
      function twoAtOnce(): string[] {
        const away = workers.flatMap(({ keeper }) => keeper.waiting.map(({ request }) => request))
        const leased = away.filter(
          request => post.clock().getTime() - (leftAt.get(request) ?? 0) < seconds(30),
        )
        return leased.map(referenceOf).filter((reference, at, all) => all.indexOf(reference) < at)
      }

      // One of those that wait gets its answer, and it is written down.
      async function answerOne({ keeper }: (typeof workers)[number]) {
        const [held] = keeper.waiting.splice(Math.floor(dice() * keeper.waiting.length), 1) as [Held?]
        if (!held) return
        held.answer(says(pick([200, 200, 404, 503])))
        const { request } = held
        await until(async () => {
          const found = await post.db.rows(sql`
            select from ${everyTry} t where tx_reference = ${referenceOf(request)}
              and sequence = ${sequenceOf(request)} and try = ${attemptOf(request)}`)
          return found.length > 0
        })
      }
      async function sendAgain() {
        const all = await post.deliveries()
        if (all.length > 0) await redeliver(post.db, pick(all), post.clock())
      }
      const actions: Record<string, () => Promise<unknown> | void> = {
        tell: () => post.tell({ merchant_id: ama, tx_reference: pick(payments), url: pick(places) }),
        sendAgain,
        step: () => {
          const { courier, keeper } = pick(workers)
          return stepUntilRest(courier, keeper)
        },
        answer: () => answerOne(pick(workers)),
        pass: () => post.pass(pick([1, seconds(1), seconds(11), seconds(11), seconds(31), minutes(10)])),
      }
      const often = [
        'tell',
        'sendAgain',
        'step',
        'step',
        'step',
        'answer',
        'answer',
        'answer',
        'pass',
        'pass',
      ]
      const done: string[] = []
      for (let step = 0; step < 250; step++) {
        done.push(pick(often))
        await actions[done.at(-1) as string]?.()
        expect({ seed, last: done.slice(-5), faults: await faults(), twoAtOnce: twoAtOnce() }).toMatchObject({
          faults: [],
          twoAtOnce: [],
        })
      }

      const isOver = async () => (await post.deliveries()).every(one => one.next_try_at === null)
      while (!(await isOver())) {
        for (const { courier, keeper } of workers) {
          await stepUntilRest(courier, keeper)
          expect({ seed, faults: await faults() }).toEqual({ seed, faults: [] })
          keeper.letGo()
          await courier.finished()
        }
        post.pass(minutes(10))
      }
      const ends = (await post.deliveries()).map(
        one => one.acknowledged_at !== null || one.exhausted_at !== null,
      )
      expect(ends).toEqual(ends.map(() => true))
      expect({ seed, faults: await faults(), troubles: post.troubles }).toEqual({
        seed,
        faults: [],
        troubles: [],
      })
    })

  test('and all at once, on connections of their own', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const { dice, pick } = createDice(seed)
    const payments = ['TG-1', 'TG-2', 'TG-3']
    await addPayments(...payments)
    const couriers = [0, 1].map(at =>
      post.courier(
        playedOutbound(() => says(pick([200, 404, 404]))),
        { seed: seed + at },
      ),
    )
    for (let round = 0; round < 80; round++) {
      const all = await post.deliveries()
      await Promise.all([
        ...couriers.map(courier => (courier.look(), courier.step())),
        ...payments.filter(() => dice() < 0.3).map(reference => tellLocked(post.db, reference)),
        ...all.filter(() => dice() < 2 / all.length).map(one => redeliver(post.db, one, post.clock())),
      ])
      expect({ seed, round, faults: await faults() }).toEqual({ seed, round, faults: [] })
      await Promise.all(couriers.map(courier => courier.finished()))
      expect({ seed, round, faults: await faults() }).toEqual({ seed, round, faults: [] })
      post.pass(seconds(pick([1, 11, 31])))
    }
    expect(post.troubles).toEqual([])
  })
})

// As a change of a payment does it: the row of the payment is held.
const tellIn = async (tx: Tx, tx_reference = 'TG-1') => {
  await lockPayment(tx, { merchant_id: ama, tx_reference })
  const told = {
    merchant_id: ama,
    tx_reference,
    mode: 'test',
    status: 'paid',
    created_at: post.clock(),
  } as const
  return addNotification(tx, { ...told, body: '{}' }, { url, lane, style: 'post' })
}
const tellLocked = (db: Db, tx_reference = 'TG-1') => db.transaction(tx => tellIn(tx, tx_reference))

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
  const courier = post.courier(
    playedOutbound(request => {
      sent.push(idOf(request))
      return thanks()
    }),
  )
  post.pass(seconds(31)) // what was taken here was taken for nobody
  await carryAll(courier)
  expect((await post.deliveries()).every(one => one.acknowledged_at !== null)).toBe(true)
  expect([await faults(), post.troubles]).toEqual([[], []])
  return sent
}

// The first has ended; the second is due and alone.
async function oneEndedOneDue() {
  await addPayments('TG-1')
  await tellLocked(post.db)
  await carryAll(post.courier(playedOutbound(thanks)))
  post.pass(hours(1))
  await tellLocked(post.db)
  expect(await state()).toEqual([
    [1, true, false, false],
    [2, true, true, false],
  ])
}

// The second has ended since: the first is alone again, and nobody has noticed yet.
async function oneDueThatHadASibling() {
  await addPayments('TG-1')
  await tellLocked(post.db)
  await tellLocked(post.db)
  const courier = post.courier(playedOutbound(request => (sequenceOf(request) === 1 ? says(404) : thanks())))
  await carryAll(courier)
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
      expect([await alone(post.db, 1), await alone(post.db, 2), await faults()]).toEqual([[], [], []])
      expect((await amongSiblings())?.sequence).toBe(isOnItsWay ? undefined : 1)
      await carryTheRest()
    })

  test('both are told of at the same time, one by hand: each knows of the other', async () => {
    await addPayments('TG-1')
    await tellLocked(post.db)
    await carryAll(post.courier(playedOutbound(thanks)))
    const [beginning] = await post.db.transaction(async tx => {
      await tellIn(tx)
      return meanwhile(() => redeliver(post.db, keyOf(1), post.clock()))
    })
    expect(await beginning).toMatchObject({ redelivered: 1 })
    expect(await faults()).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('and in the other order', async () => {
    await addPayments('TG-1')
    await tellLocked(post.db)
    await carryAll(post.courier(playedOutbound(thanks)))
    const [telling] = await post.db.transaction(async tx => {
      await again(tx, 1)
      return meanwhile(() => tellLocked(post.db))
    })
    expect(await telling).toEqual({ sequence: 2 })
    expect(await faults()).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('two are begun again by hand at the same time', async () => {
    await oneEndedOneDue()
    await carryAll(post.courier(playedOutbound(thanks)))
    const [beginning] = await post.db.transaction(async tx => {
      await again(tx, 2)
      return meanwhile(() => redeliver(post.db, keyOf(1), post.clock()))
    })
    await beginning
    expect(await faults()).toEqual([])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('a new one is told of, and the only one before it is taken before that is committed', async () => {
    await addPayments('TG-1')
    await tellLocked(post.db)
    const [taking] = await post.db.transaction(async tx => {
      await tellIn(tx)
      return meanwhile(() => alone(post.db, 1))
    })
    expect([await taking, await faults()]).toEqual([[], []])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  test('and in the other order: the new one waits', async () => {
    await addPayments('TG-1')
    await tellLocked(post.db)
    const [telling] = await post.db.transaction(async tx => {
      expect(await alone(tx, 1)).toHaveLength(1)
      return meanwhile(() => tellLocked(post.db))
    })
    await telling
    expect([await alone(post.db, 2), await amongSiblings(), await faults()]).toEqual([[], undefined, []])
    expect(await carryTheRest()).toEqual(['TG-1-N1', 'TG-1-N2'])
  })

  for (const [what, begin, sequence] of [
    ['a new one is told of', (tx: Tx) => tellIn(tx), 3],
    ['its sibling is begun again', (tx: Tx) => again(tx, 2), 2],
  ] as const)
    test(`${what}, and one that had a sibling is taken before that is committed: it is not alone`, async () => {
      await oneDueThatHadASibling()
      const [taking] = await post.db.transaction(async tx => {
        await begin(tx)
        return meanwhile(() => amongSiblings())
      })
      expect(await taking).toMatchObject({ sequence: 1 })
      expect([await faults(), await alone(post.db, sequence), await amongSiblings()]).toEqual([
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
    expect([await faults(), await alone(post.db, 2), await amongSiblings()]).toEqual([[], [], undefined])
    await carryTheRest()
  })

  for (const statement of [1, 2, 3, 4])
    test(`two are due, one is begun again and one is taken after statement ${statement} of that: no deadlock`, async () => {
      await addPayments('TG-1')
      await tellLocked(post.db)
      await tellLocked(post.db)
      const [hand, worker] = [counting(post.db), counting(post.db)]
      let waiting: Promise<unknown>[] = []
      const happens = async (at: number) => {
        if (at === statement) waiting = await meanwhile(() => amongSiblings(worker.db))
      }
      await hand.db.transaction(tx => again(interrupted(tx, happens), 2))
      await Promise.all(waiting)
      expect([hand.runs(), worker.runs(), await faults()]).toEqual([1, 1, []])
      await carryTheRest()
    })
})
