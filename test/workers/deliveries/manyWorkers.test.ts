import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openDb, sql } from '../../../src/store/db.ts'
import { startLoop } from '../../../src/workers/loop.ts'
import { createRandom, randomSeed } from '../../support/random.ts'
import { minutes, seconds } from '../../support/payments/rows.ts'
import { idOf, fakeOutbound, referenceOf, respond, sequenceOf, acknowledge } from './answers.ts'
import { dispatchAll, useDeliveryFixture } from './fixture.ts'

const fixture = useDeliveryFixture(4)

// Answers any number of workers with any delay and result, and records which requests are in flight together.
function createWatcher(seed: number) {
  const { random } = createRandom(seed)
  const away = new Set<string>()
  const faults: string[] = []
  const acknowledged = new Map<string, number>()
  const lowest = new Map<string, number>() // first tries only ever go up
  const outbound = fakeOutbound(async request => {
    const [payment, id] = [referenceOf(request), idOf(request)]
    if (away.has(payment)) faults.push(`two of ${payment} at once`)
    if (acknowledged.has(id)) faults.push(`${id} again`)
    const first = request.headers['webhook-attempt'] === '1'
    if (first && sequenceOf(request) < (lowest.get(payment) ?? 0)) faults.push(`${id} is late`)
    if (first) lowest.set(payment, sequenceOf(request))
    away.add(payment)
    await sleep(random() < 0.2 ? random() * 20 : 0)
    away.delete(payment)
    if (random() < 0.3) return respond(random() < 0.5 ? 404 : 503)
    acknowledged.set(id, 1)
    return acknowledge()
  })
  return { outbound, faults, acknowledged }
}

const leases = async () =>
  (await fixture.db.rows(sql`select from deliveries where lease_token is not null`)).length

for (const workers of [2, 8])
  test(`${workers} workers on one database: no payment has two deliveries in flight, none is sent again, all arrive`, async () => {
    const seed = randomSeed()
    const { random, pick } = createRandom(seed)
    const { outbound, faults, acknowledged } = createWatcher(seed + 1)
    const pools = Array.from({ length: workers }, () => openDb(fixture.url, 3))
    const troubles: unknown[] = []
    const loops = pools.map((db, at) => {
      const dispatcher = fixture.dispatcher(outbound, {
        db,
        seed: seed + at,
        trouble: error => troubles.push(error),
      })
      const step = async () => {
        dispatcher.requestPoll()
        return dispatcher.step()
      }
      return {
        dispatcher,
        loop: startLoop({ restMs: 20, step, onTrouble: error => troubles.push(error), heartbeat: undefined }),
      }
    })
    const payments = Array.from({ length: 40 }, (_, at) => ({
      merchant_id: fixture.ids[at % 4] as string,
      tx_reference: `TG-${workers}-${at}`,
      url: `https://shop${at % 7}.example/`,
    }))
    let notified = 0
    for (let round = 0; round < 30; round++) {
      await Promise.all(
        payments.filter(() => random() < 0.2).map(async one => void (notified++, await fixture.notify(one))),
      )
      while (loops.some(({ dispatcher }) => dispatcher.inFlight() > 0) || (await leases()) > 0) await sleep(2)
      fixture.pass(seconds(pick([0, 1, 11]))) // so short that no lease ends during a try
    }
    await Promise.all(loops.map(({ loop }) => loop.stop()))
    await Promise.all(loops.map(({ dispatcher }) => dispatcher.finished()))
    const isOver = async () => (await fixture.deliveries()).every(one => one.next_try_at === null)
    while (!(await isOver())) {
      fixture.pass(minutes(10))
      await dispatchAll(...loops.map(({ dispatcher }) => dispatcher))
    }
    await Promise.all(pools.map(pool => pool.end()))
    expect({ seed, faults, troubles }).toEqual({ seed, faults: [], troubles: [] })
    const deliveries = await fixture.deliveries()
    expect(deliveries).toHaveLength(notified)
    expect(deliveries.filter(one => !one.acknowledged_at)).toEqual([])
    expect(acknowledged.size).toBe(notified)
    const tries = await fixture.tries()
    expect(tries.filter(one => one.status === 200)).toHaveLength(notified)
  })
