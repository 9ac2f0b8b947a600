import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { lockRows } from '../../support/database/lockRows.ts'
import { minutes, noon, seconds } from '../../support/payments/rows.ts'
import { withoutSkipLocked } from '../../support/database/withoutSkipLocked.ts'
import { createGateKeeper, fails, idOf, playedOutbound, referenceOf, says, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest, until } from './post.ts'

// Somebody holds rows of deliveries, as a node does that stands still in the middle of its work. Nobody else waits for
// it.
let post: Post
beforeAll(async () => {
  post = await openPost(5)
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  post.troubles.length = 0
})
afterAll(async () => {
  await post.close()
})

async function whileHeld<T>(tx_reference: string, work: () => Promise<T>): Promise<T> {
  const letGo = await lockRows(
    post.url,
    'select 1 from deliveries where tx_reference = $1 and sequence = 1',
    [tx_reference],
  )
  try {
    return await work()
  } finally {
    await letGo()
  }
}

const urlOf = (at: number) => `https://shop${at}.example/ipn`

// One of each merchant, the oldest first.
async function tellAll() {
  const told: string[] = []
  for (const [at, merchant_id] of post.ids.entries()) {
    told.push(await post.tell({ merchant_id, url: urlOf(at) }))
    post.pass(10)
  }
  return told
}

const acknowledged = async () =>
  (await post.deliveries()).flatMap(one => (one.acknowledged_at ? [one.tx_reference] : [])).toSorted()

function createRecorder() {
  const sent: string[] = []
  const outbound = playedOutbound(request => {
    sent.push(idOf(request))
    return thanks()
  })
  return { sent, outbound }
}

for (const [name, open] of [
  ['a database that skips', () => post.db],
  ['a database that refuses to skip', () => withoutSkipLocked(post.db).db],
] as const)
  describe(name, () => {
    for (const [age, at] of [
      ['oldest', 0],
      ['middle', 2],
      ['newest', 4],
    ] as const)
      test(`the ${age} is held: all others are sent and written down, and it when it is let go`, async () => {
        const told = await tellAll()
        const held = told[at] as string
        const { sent, outbound } = createRecorder()
        const dispatcher = post.dispatcher(outbound, { db: open() })
        const others = told.filter(one => one !== held)
        await whileHeld(held, async () => {
          await stepUntilRest(dispatcher, { waiting: [] })
          await dispatcher.finished()
          expect(sent.map(id => id.replace('-N1', '')).toSorted()).toEqual(others.toSorted())
          expect(await acknowledged()).toEqual(others.toSorted())
          const later = await post.tell({ merchant_id: post.ids[at] as string, url: urlOf(at) })
          await stepUntilRest(dispatcher, { waiting: [] })
          await dispatcher.finished()
          expect(await acknowledged()).toEqual([...others, later].toSorted())
        })
        await carryAll(dispatcher)
        expect(sent).toHaveLength(6)
        expect(sent.at(-1)).toBe(`${held}-N1`)
        expect(post.troubles).toEqual([])
      })

    test('one of two siblings is held: neither is sent, everybody else is, and then the older goes first', async () => {
      const told = await tellAll()
      const [twice = ''] = told
      await post.tell({ merchant_id: post.ids[0] as string, tx_reference: twice, url: urlOf(0) })
      const { sent, outbound } = createRecorder()
      const dispatcher = post.dispatcher(outbound, { db: open() })
      await whileHeld(twice, async () => {
        await stepUntilRest(dispatcher, { waiting: [] })
        await dispatcher.finished()
        expect(await acknowledged()).toEqual(told.slice(1).toSorted())
      })
      await carryAll(dispatcher)
      expect(sent.slice(-2)).toEqual([`${twice}-N1`, `${twice}-N2`])
      expect(post.troubles).toEqual([])
    })

    for (const [word, answer, result] of [
      ['yes', thanks, 'acknowledged'],
      ['no', () => says(500), 'server_error'],
    ] as const)
      test(`a ${word} that cannot be written down because its row is held: those of others are, and it later`, async () => {
        const told = await tellAll()
        const [held = '', ...others] = told
        const monitor = createGateKeeper()
        const dispatcher = post.dispatcher(playedOutbound(monitor.hold), { db: open() })
        await stepUntilRest(dispatcher, monitor)
        const written = async () =>
          (await post.deliveries()).filter(one => one.last_result === result).map(one => one.tx_reference)
        await whileHeld(held, async () => {
          monitor.letGo(answer)
          await until(async () => (await written()).length === others.length)
          expect((await written()).toSorted()).toEqual(others.toSorted())
        })
        await dispatcher.finished()
        expect((await written()).toSorted()).toEqual(told.toSorted())
        expect((await post.deliveries()).map(one => one.tries)).toEqual(told.map(() => 1))
        expect(post.troubles).toEqual([])
      })

    test('one behind a dead endpoint is held: the others are put away, and brought back past another', async () => {
      const dead = 'https://dead.example/ipn'
      const [ama = '', kofi = ''] = post.ids
      const answers = { isDead: true }
      const dispatcher = post.dispatcher(
        playedOutbound(request =>
          request.url === dead && answers.isDead ? fails('no_connection') : thanks(),
        ),
        { db: open() },
      )
      for (let at = 0; at < 5; at++) await post.tell({ merchant_id: ama, url: dead })
      await carryAll(dispatcher) // now the breaker of this lane is open
      const told: string[] = []
      for (let at = 0; at < 4; at++) told.push(await post.tell({ merchant_id: ama, url: dead }))
      const putAway = async () =>
        (await post.deliveries()).flatMap(one => (one.parked ? [one.tx_reference] : [])).toSorted()
      await whileHeld(told[1] as string, async () => {
        const other = await post.tell({ merchant_id: kofi })
        await stepUntilRest(dispatcher, { waiting: [] })
        await dispatcher.finished()
        expect(await acknowledged()).toEqual([other])
        expect(await putAway()).toEqual(told.filter((_, at) => at !== 1).toSorted())
      })
      await carryAll(dispatcher)
      expect(await putAway()).toEqual(told.toSorted())
      answers.isDead = false
      post.pass(minutes(2))
      await whileHeld(told[0] as string, async () => {
        await carryAll(dispatcher)
        expect(await acknowledged()).toEqual(expect.arrayContaining(told.slice(1)))
      })
    })
  })

test('while one is held, whoever has taken all the others rests', async () => {
  const [held = ''] = await tellAll()
  const { outbound } = createRecorder()
  const dispatcher = post.dispatcher(outbound)
  await whileHeld(held, async () => {
    await stepUntilRest(dispatcher, { waiting: [] })
    const rests = []
    for (let looks = 0; looks < 3; looks++) {
      dispatcher.requestPoll()
      while ((await dispatcher.step()) > 0);
      rests.push(dispatcher.restMs() > 0)
    }
    expect(rests).toEqual([true, true, true])
  })
  await dispatcher.finished()
})

test('a crowd that is held hides nobody', async () => {
  const [ama = '', kofi = ''] = post.ids
  await post.addCrowd(ama, 700, 'https://ama.example/ipn')
  post.pass(seconds(1))
  const told = await post.tell({ merchant_id: kofi, url: 'https://kofi.example/ipn' })
  const sent: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      sent.push(referenceOf(request))
      return thanks()
    }),
  )
  const letGo = await lockRows(post.url, 'select 1 from deliveries where merchant_id = $1', [ama])
  dispatcher.requestPoll()
  for (let steps = 0; steps < 30 && sent.length === 0; steps++) await dispatcher.step()
  await letGo()
  expect(sent).toEqual([told])
  await dispatcher.finished()
})
