import { beforeAll, describe, expect, inject, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import { everyTry } from '../../../src/store/notifications/tries.ts'
import { createRandom, randomSeed } from '../../support/random.ts'
import { minutes, seconds } from '../../support/payments/rows.ts'
import { attemptOf, createRequestGate, fakeOutbound, referenceOf, respond, sequenceOf } from './answers.ts'
import { useDeliveryFixture, stepUntilRest, until } from './fixture.ts'
import { addPayments, faults, notifyLocked, url } from './siblings.ts'

const isProof = inject('isProof')
const walks = isProof ? 3 : 1
const rounds = isProof ? 80 : 40

const fixture = useDeliveryFixture()
let ama: string
beforeAll(() => void (ama = fixture.ids[0] as string))

describe('a random walk of everything that begins, sends and ends deliveries', () => {
  for (let walk = 0; walk < walks; walk++)
    test(`walk ${walk + 1}: all deliveries marked as alone are, and no payment has two in flight`, {
      timeout: 300_000,
    }, async () => {
      const seed = randomSeed()
      const { random, pick } = createRandom(seed)
      const payments = ['TG-1', 'TG-2', 'TG-3', 'TG-4']
      const places = [url, url, 'https://other.example/', 'https://third.example/']
      await addPayments(fixture, ...payments)
      const leftAt = new Map<OutboundRequest, number>()
      const workers = [0, 1, 2].map(at => {
        const gate = createRequestGate()
        const outbound = fakeOutbound(request => {
          leftAt.set(request, fixture.clock().getTime())
          return gate.hold(request)
        })
        return { gate: gate, dispatcher: fixture.dispatcher(outbound, { seed: seed + at }) }
      })
      type WaitingRequest = (typeof workers)[number]['gate']['waiting'][number]

      // Counted by the requests. A request that is older than its lease does not count.
      function twoAtOnce(): string[] {
        const away = workers.flatMap(({ gate }) => gate.waiting.map(({ request }) => request))
        const leased = away.filter(
          request => fixture.clock().getTime() - (leftAt.get(request) ?? 0) < seconds(30),
        )
        return leased.map(referenceOf).filter((reference, at, all) => all.indexOf(reference) < at)
      }

      // One of the waiting requests gets its answer, and the result is saved.
      async function answerOne({ gate }: (typeof workers)[number]) {
        const [waiting] = gate.waiting.splice(Math.floor(random() * gate.waiting.length), 1) as [
          WaitingRequest?,
        ]
        if (!waiting) return
        waiting.answer(respond(pick([200, 200, 404, 503])))
        const { request } = waiting
        await until(async () => {
          const found = await fixture.db.rows(sql`
            select from ${everyTry} t where tx_reference = ${referenceOf(request)}
              and sequence = ${sequenceOf(request)} and try = ${attemptOf(request)}`)
          return found.length > 0
        })
      }
      async function sendAgain() {
        const all = await fixture.deliveries()
        if (all.length > 0) await redeliver(fixture.db, pick(all), fixture.clock())
      }
      const actions: Record<string, () => Promise<unknown> | void> = {
        notify: () => fixture.notify({ merchant_id: ama, tx_reference: pick(payments), url: pick(places) }),
        sendAgain,
        step: () => {
          const { dispatcher, gate } = pick(workers)
          return stepUntilRest(dispatcher, gate)
        },
        answer: () => answerOne(pick(workers)),
        pass: () => fixture.pass(pick([1, seconds(1), seconds(11), seconds(11), seconds(31), minutes(10)])),
      }
      const often = [
        'notify',
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
        expect({
          seed,
          last: done.slice(-5),
          faults: await faults(fixture),
          twoAtOnce: twoAtOnce(),
        }).toMatchObject({
          faults: [],
          twoAtOnce: [],
        })
      }

      const isOver = async () => (await fixture.deliveries()).every(one => one.next_try_at === null)
      while (!(await isOver())) {
        for (const { dispatcher, gate } of workers) {
          await stepUntilRest(dispatcher, gate)
          expect({ seed, faults: await faults(fixture) }).toEqual({ seed, faults: [] })
          gate.release()
          await dispatcher.finished()
        }
        fixture.pass(minutes(10))
      }
      const ends = (await fixture.deliveries()).map(
        one => one.acknowledged_at !== null || one.exhausted_at !== null,
      )
      expect(ends).toEqual(ends.map(() => true))
      expect({ seed, faults: await faults(fixture), troubles: fixture.troubles }).toEqual({
        seed,
        faults: [],
        troubles: [],
      })
    })

  test('all of them at once, on separate connections', { timeout: 300_000 }, async () => {
    const seed = randomSeed()
    const { random, pick } = createRandom(seed)
    const payments = ['TG-1', 'TG-2', 'TG-3']
    await addPayments(fixture, ...payments)
    const dispatchers = [0, 1].map(at =>
      fixture.dispatcher(
        fakeOutbound(() => respond(pick([200, 404, 404]))),
        { seed: seed + at },
      ),
    )
    for (let round = 0; round < rounds; round++) {
      const all = await fixture.deliveries()
      await Promise.all([
        ...dispatchers.map(dispatcher => (dispatcher.requestPoll(), dispatcher.step())),
        ...payments.filter(() => random() < 0.3).map(reference => notifyLocked(fixture, reference)),
        ...all
          .filter(() => random() < 2 / all.length)
          .map(one => redeliver(fixture.db, one, fixture.clock())),
      ])
      expect({ seed, round, faults: await faults(fixture) }).toEqual({ seed, round, faults: [] })
      await Promise.all(dispatchers.map(dispatcher => dispatcher.finished()))
      expect({ seed, round, faults: await faults(fixture) }).toEqual({ seed, round, faults: [] })
      fixture.pass(seconds(pick([1, 11, 31])))
    }
    expect(fixture.troubles).toEqual([])
  })
})
