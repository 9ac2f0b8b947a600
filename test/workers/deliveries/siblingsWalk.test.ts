import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { redeliver } from '../../../src/actions/notifications/redeliver.ts'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { sql } from '../../../src/store/db.ts'
import { everyTry } from '../../../src/store/notifications/tries.ts'
import { createRandom, randomSeed } from '../../support/random.ts'
import { minutes, seconds } from '../../support/payments/rows.ts'
import { attemptOf, createGateKeeper, playedOutbound, referenceOf, says, sequenceOf } from './answers.ts'
import { openPost, type Post, stepUntilRest, until } from './post.ts'
import { addPayments, clear, faults, tellLocked, url } from './siblings.ts'

const isProof = inject('isProof')
const walks = isProof ? 3 : 1
const rounds = isProof ? 80 : 40

let post: Post
let ama: string
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await clear(post)
  ama = post.ids[0] as string
})
afterAll(() => post.close())

describe('a long walk of everything that begins, carries and ends deliveries', () => {
  for (let walk = 0; walk < walks; walk++)
    test(`walk ${walk + 1}: whoever believes to be alone is, and no payment has two on their way`, {
      timeout: 300_000,
    }, async () => {
      const seed = randomSeed()
      const { random, pick } = createRandom(seed)
      const payments = ['TG-1', 'TG-2', 'TG-3', 'TG-4']
      const places = [url, url, 'https://other.example/', 'https://third.example/']
      await addPayments(post, ...payments)
      const leftAt = new Map<OutboundRequest, number>()
      const workers = [0, 1, 2].map(at => {
        const monitor = createGateKeeper()
        const outbound = playedOutbound(request => {
          leftAt.set(request, post.clock().getTime())
          return monitor.hold(request)
        })
        return { keeper: monitor, dispatcher: post.dispatcher(outbound, { seed: seed + at }) }
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
        const [held] = keeper.waiting.splice(Math.floor(random() * keeper.waiting.length), 1) as [Held?]
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
          const { dispatcher, keeper } = pick(workers)
          return stepUntilRest(dispatcher, keeper)
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
        expect({
          seed,
          last: done.slice(-5),
          faults: await faults(post),
          twoAtOnce: twoAtOnce(),
        }).toMatchObject({
          faults: [],
          twoAtOnce: [],
        })
      }

      const isOver = async () => (await post.deliveries()).every(one => one.next_try_at === null)
      while (!(await isOver())) {
        for (const { dispatcher, keeper } of workers) {
          await stepUntilRest(dispatcher, keeper)
          expect({ seed, faults: await faults(post) }).toEqual({ seed, faults: [] })
          keeper.letGo()
          await dispatcher.finished()
        }
        post.pass(minutes(10))
      }
      const ends = (await post.deliveries()).map(
        one => one.acknowledged_at !== null || one.exhausted_at !== null,
      )
      expect(ends).toEqual(ends.map(() => true))
      expect({ seed, faults: await faults(post), troubles: post.troubles }).toEqual({
        seed,
        faults: [],
        troubles: [],
      })
    })

  test('and all at once, on connections of their own', { timeout: 300_000 }, async () => {
    const seed = randomSeed()
    const { random, pick } = createRandom(seed)
    const payments = ['TG-1', 'TG-2', 'TG-3']
    await addPayments(post, ...payments)
    const dispatchers = [0, 1].map(at =>
      post.dispatcher(
        playedOutbound(() => says(pick([200, 404, 404]))),
        { seed: seed + at },
      ),
    )
    for (let round = 0; round < rounds; round++) {
      const all = await post.deliveries()
      await Promise.all([
        ...dispatchers.map(dispatcher => (dispatcher.requestPoll(), dispatcher.step())),
        ...payments.filter(() => random() < 0.3).map(reference => tellLocked(post, reference)),
        ...all.filter(() => random() < 2 / all.length).map(one => redeliver(post.db, one, post.clock())),
      ])
      expect({ seed, round, faults: await faults(post) }).toEqual({ seed, round, faults: [] })
      await Promise.all(dispatchers.map(dispatcher => dispatcher.finished()))
      expect({ seed, round, faults: await faults(post) }).toEqual({ seed, round, faults: [] })
      post.pass(seconds(pick([1, 11, 31])))
    }
    expect(post.troubles).toEqual([])
  })
})
