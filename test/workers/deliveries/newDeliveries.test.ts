import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Db, sql } from '../../../src/store/db.ts'
import { noon, seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, fails, playedOutbound, referenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

let post: Post
let ama: string
let kofi: string
beforeAll(async () => void (post = await openPost(2)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  ;[ama, kofi] = post.ids as [string, string]
})
afterAll(() => post.close())

const hangingShop = 'https://hangs.example/ipn'
const deadShop = 'https://dead.example/ipn'

// One shop hangs, another is dead, all others thank.
function openTown(db?: Db) {
  const monitor = createGateKeeper()
  const sent: string[] = []
  const outbound = playedOutbound(request => {
    if (request.url === hangingShop) return monitor.hold(request)
    if (request.url === deadShop) return fails('timeout')
    sent.push(referenceOf(request))
    return thanks()
  })
  return { keeper: monitor, sent, dispatcher: post.dispatcher(outbound, { db }) }
}

// The crowd goes home. Who is let go has come to the gate: one whose signer is still read would wait there for ever.
async function close({ keeper, dispatcher }: Pick<ReturnType<typeof openTown>, 'keeper' | 'dispatcher'>) {
  await dispatcher.flushed()
  await until(() => dispatcher.inFlight() === keeper.waiting.length)
  keeper.letGo()
  await dispatcher.finished()
}

const heldOf = async (merchant_id: string) =>
  (await post.deliveries()).filter(one => one.parked && one.merchant_id === merchant_id).length

for (const [who, isOurs] of [
  ['this process', true],
  ['another process', false],
] as const)
  test(`what ${who} has just committed leaves with the first step, although 20,000 are due before it`, async () => {
    const town = openTown()
    const { sent, dispatcher } = town
    await post.addCrowd(ama, 20_000, hangingShop)
    const told = await post.tell({ merchant_id: kofi })
    if (isOurs) dispatcher.requestNewestPoll()
    await dispatcher.step()
    await until(() => sent.length > 0)
    expect(sent).toEqual([told])
    await close(town)
  })

test('a signal is enough while a crowd is in sight', async () => {
  const town = openTown()
  const { sent, dispatcher } = town
  await post.addCrowd(ama, 2000, hangingShop)
  await dispatcher.step()
  for (let at = 1; at <= 5; at++) {
    post.pass(50)
    const told = await post.tell({ merchant_id: kofi })
    dispatcher.requestNewestPoll()
    await dispatcher.step()
    await until(() => sent.length === at)
    expect(sent.at(-1)).toBe(told)
  }
  await close(town)
})

test('what came while the worker stood still is seen before the crowd', async () => {
  const town = openTown()
  const { sent, dispatcher } = town
  await post.addCrowd(ama, 20_000, hangingShop)
  await dispatcher.step()
  const told = await post.tell({ merchant_id: kofi })
  post.pass(seconds(5))
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  await until(() => sent.length > 0)
  expect(sent).toEqual([told])
  await close(town)
})

test('what waits for its lane stays in sight before a crowd, however long it waits', async () => {
  const town = openTown()
  const { keeper, dispatcher } = town
  await post.addCrowd(ama, 20_000, hangingShop)
  const first = await post.tell({ merchant_id: kofi, url: hangingShop })
  const second = await post.tell({ merchant_id: kofi, url: hangingShop })
  const ofKofi = () => keeper.waiting.filter(({ request }) => request.lane === kofi)
  await dispatcher.step()
  await until(() => ofKofi().length === 1)
  for (let look = 0; look < 3; look++) {
    post.pass(seconds(1))
    dispatcher.requestPoll()
    await dispatcher.step()
  }
  const [one] = ofKofi()
  keeper.waiting.splice(0, 1000, ...keeper.waiting.filter(other => other !== one))
  one?.answer(thanks())
  await until(() => dispatcher.inFlight() === keeper.waiting.length)
  await dispatcher.step()
  await until(() => ofKofi().length === 1)
  expect([one, ...ofKofi()].map(each => each && referenceOf(each.request))).toEqual([first, second])
  await close(town)
})

test('what has just come is not put away with the crowd that waits for its lane', async () => {
  const town = openTown()
  const { dispatcher } = town
  await post.addCrowd(ama, 2000, hangingShop)
  for (let at = 0; at < 10; at++) await post.tell({ merchant_id: kofi, url: hangingShop })
  await dispatcher.step()
  await dispatcher.flushed()
  expect([await heldOf(kofi), (await heldOf(ama)) > 0]).toEqual([0, true])
  await close(town)
})

test('what has just come is looked for and taken by itself, before the look at everything that is due, too', async () => {
  const looks: unknown[][] = []
  const db: Db = {
    ...post.db,
    tuples: query => {
      if (query.text.includes('from deliveries')) looks.push([...query.values])
      return post.db.tuples(query)
    },
  }
  const town = openTown(db)
  const { sent, dispatcher } = town
  await post.addCrowd(ama, 2000, hangingShop)
  await dispatcher.step()
  const told = await post.tell({ merchant_id: kofi })
  dispatcher.requestPoll()
  dispatcher.requestNewestPoll()
  const before = looks.length
  await dispatcher.step()
  expect(looks.length - before).toBe(1)
  await until(() => sent.length > 0)
  expect(sent).toEqual([told])
  expect(dispatcher.restMs()).toBe(0) // the others follow
  await dispatcher.step()
  expect(looks.length - before).toBeGreaterThan(1)
  await close(town)
})

test('a signal that comes too late: the next look finds it', async () => {
  const { keeper, sent, dispatcher } = openTown()
  await stepUntilRest(dispatcher, keeper)
  const told = await post.tell({ merchant_id: kofi })
  post.pass(seconds(5))
  dispatcher.requestNewestPoll()
  await until(async () => {
    await dispatcher.step()
    return sent.length > 0
  })
  expect(sent).toEqual([told])
  await dispatcher.finished()
})

test('a second signal while the first is looked after is not lost', async () => {
  const { keeper, sent, dispatcher } = openTown()
  await stepUntilRest(dispatcher, keeper)
  const first = await post.tell({ merchant_id: kofi })
  dispatcher.requestNewestPoll()
  const step = dispatcher.step()
  const second = await post.tell({ merchant_id: ama })
  dispatcher.requestNewestPoll()
  await step
  expect(dispatcher.restMs()).toBe(0)
  await dispatcher.step()
  await until(() => sent.length === 2)
  expect(sent.toSorted()).toEqual([first, second].toSorted())
  await dispatcher.finished()
})

// A database that puts nothing away until it may.
function slowToPutAway() {
  let goOn: (() => void) | undefined
  const gate = new Promise<void>(resolve => void (goOn = resolve))
  const db: Db = {
    ...post.db,
    transaction: work =>
      post.db.transaction(tx =>
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

test('those that can leave do not wait until others are put away', async () => {
  const { db, goOn } = slowToPutAway()
  const { sent, dispatcher } = openTown(db)
  for (let at = 0; at < 5; at++) await post.tell({ merchant_id: ama, url: deadShop })
  await carryAll(dispatcher) // and its breaker is open
  await post.tell({ merchant_id: ama, url: deadShop })
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  const tidied = dispatcher.flushed()
  const told = await post.tell({ merchant_id: kofi })
  dispatcher.requestNewestPoll()
  await dispatcher.step()
  await until(() => sent.length > 0)
  expect(sent).toEqual([told])
  const isTidied = await Promise.race([tidied.then(() => true), nextTurn(false)])
  expect(isTidied).toBe(false)
  goOn()
  await dispatcher.finished()
  expect(await heldOf(ama)).toBe(1)
  expect(post.troubles).toEqual([])
})
