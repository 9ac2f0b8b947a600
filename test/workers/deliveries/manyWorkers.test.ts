import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDb, sql } from '../../../src/store/db.ts'
import { startLoop } from '../../../src/workers/loop.ts'
import { createRandom, randomSeed } from '../../support/random.ts'
import { minutes, noon, seconds } from '../../support/payments/rows.ts'
import { idOf, playedOutbound, referenceOf, says, sequenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post } from './post.ts'

let post: Post
beforeAll(async () => void (post = await openPost(4)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
})
afterAll(() => post.close())

// Answers of any speed and mood, to any number of workers, and watches who is on the way with whom.
function createWatcher(seed: number) {
  const { random } = createRandom(seed)
  const away = new Set<string>()
  const faults: string[] = []
  const acknowledged = new Map<string, number>()
  const lowest = new Map<string, number>() // first tries only ever go up
  const outbound = playedOutbound(async request => {
    const [payment, id] = [referenceOf(request), idOf(request)]
    if (away.has(payment)) faults.push(`two of ${payment} at once`)
    if (acknowledged.has(id)) faults.push(`${id} again`)
    const first = request.headers['webhook-attempt'] === '1'
    if (first && sequenceOf(request) < (lowest.get(payment) ?? 0)) faults.push(`${id} is late`)
    if (first) lowest.set(payment, sequenceOf(request))
    away.add(payment)
    await sleep(random() < 0.2 ? random() * 20 : 0)
    away.delete(payment)
    if (random() < 0.3) return says(random() < 0.5 ? 404 : 503)
    acknowledged.set(id, 1)
    return thanks()
  })
  return { outbound, faults, acknowledged }
}

const leases = async () =>
  (await post.db.rows(sql`select from deliveries where lease_token is not null`)).length

for (const workers of [2, 8])
  test(`${workers} workers on one database: no payment has two on their way, none is sent again, all arrive`, async () => {
    const seed = randomSeed()
    const { random, pick } = createRandom(seed)
    const { outbound, faults, acknowledged } = createWatcher(seed + 1)
    const pools = Array.from({ length: workers }, () => openDb(post.url, 3))
    const troubles: unknown[] = []
    const loops = pools.map((db, at) => {
      const dispatcher = post.dispatcher(outbound, {
        db,
        seed: seed + at,
        trouble: error => troubles.push(error),
      })
      const step = async () => {
        dispatcher.requestPoll()
        return dispatcher.step()
      }
      return { dispatcher, loop: startLoop({ restMs: 20, step, onTrouble: error => troubles.push(error) }) }
    })
    const payments = Array.from({ length: 40 }, (_, at) => ({
      merchant_id: post.ids[at % 4] as string,
      tx_reference: `TG-${workers}-${at}`,
      url: `https://shop${at % 7}.example/`,
    }))
    let told = 0
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        payments.filter(() => random() < 0.2).map(async one => void (told++, await post.tell(one))),
      )
      while (loops.some(({ dispatcher }) => dispatcher.inFlight() > 0) || (await leases()) > 0) await sleep(2)
      post.pass(seconds(pick([0, 1, 11]))) // never so long that a lease ends under a try, or before it is written down
    }
    await Promise.all(loops.map(({ loop }) => loop.stop()))
    await Promise.all(loops.map(({ dispatcher }) => dispatcher.finished()))
    const isOver = async () => (await post.deliveries()).every(one => one.next_try_at === null)
    while (!(await isOver())) {
      post.pass(minutes(10))
      await carryAll(...loops.map(({ dispatcher }) => dispatcher))
    }
    await Promise.all(pools.map(pool => pool.end()))
    expect({ seed, faults, troubles }).toEqual({ seed, faults: [], troubles: [] })
    const deliveries = await post.deliveries()
    expect(deliveries).toHaveLength(told)
    expect(deliveries.filter(one => !one.acknowledged_at)).toEqual([])
    expect(acknowledged.size).toBe(told)
    const tries = await post.tries()
    expect(tries.filter(one => one.status === 200)).toHaveLength(told)
  })
