import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { query } from '../../support/database/database.ts'
import { noon, seconds } from '../../support/payments/rows.ts'
import { attemptOf, createGateKeeper, fails, idOf, playedOutbound, referenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest } from './post.ts'

const poolName = 'dispatcher of the test'

let post: Post
let pool: Db
let ama: string
beforeAll(async () => {
  post = await openPost(8)
  pool = openDb(post.url, 3, poolName)
  ama = post.ids[0] as string
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  post.troubles.length = 0
})
afterAll(async () => {
  await pool.end()
  await post.close()
})

const cutAll = () =>
  query(post.url, 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
    poolName,
  ])

function createRecorder() {
  const requests: OutboundRequest[] = []
  const outbound = playedOutbound(request => {
    requests.push(request)
    return thanks()
  })
  return { requests, outbound }
}

test('results that cannot be written: after its lease it is sent again, the same id and bytes, one try higher', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = post.dispatcher(outbound)
  await post.tell({ merchant_id: ama })
  await query(post.url, 'alter table deliveries rename column last_ms to away')
  await carryAll(dispatcher)
  await query(post.url, 'alter table deliveries rename column away to last_ms')
  expect([requests.length, post.troubles.length, dispatcher.inFlight()]).toEqual([1, 1, 0])
  post.pass(seconds(29))
  await carryAll(dispatcher)
  expect(requests).toHaveLength(1)
  post.pass(seconds(1))
  await carryAll(dispatcher)
  const [first, second] = requests as [OutboundRequest, OutboundRequest]
  expect(requests).toHaveLength(2)
  expect([idOf(second), second.body]).toEqual([idOf(first), first.body])
  expect([attemptOf(first), attemptOf(second)]).toEqual([1, 2])
  expect(await post.deliveries()).toMatchObject([
    { tries: 2, last_result: 'acknowledged', next_try_at: null },
  ])
})

test('connections that are cut while tries are on their way: every result is written, nothing is sent twice', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold), { db: pool })
  for (let at = 0; at < 40; at++)
    await post.tell({ merchant_id: post.ids[at % 8] as string, url: `https://shop${at}.example/` })
  await stepUntilRest(dispatcher, monitor)
  expect(monitor.waiting).toHaveLength(40)
  await cutAll()
  monitor.letGo()
  await dispatcher.finished()
  expect((await post.deliveries()).every(one => one.acknowledged_at !== null && one.tries === 1)).toBe(true)
  expect(post.troubles).toEqual([])
})

test('connections that are cut again and again lose nothing; what comes twice has the same id and bytes', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = post.dispatcher(outbound, { db: pool })
  for (let at = 0; at < 150; at++)
    await post.tell({ merchant_id: post.ids[at % 8] as string, url: `https://shop${at % 40}.example/` })
  const cutting = { isOver: false }
  const cutter = (async () => {
    while (!cutting.isOver) await cutAll()
  })()
  for (let round = 0; round < 12; round++) {
    dispatcher.requestPoll()
    await dispatcher.step().catch(error => void post.troubles.push(error))
    post.pass(seconds(3))
  }
  cutting.isOver = true
  await cutter
  await dispatcher.finished()
  expect(dispatcher.inFlight()).toBe(0)
  post.pass(seconds(31))
  await carryAll(dispatcher)
  const deliveries = await post.deliveries()
  expect(deliveries.filter(one => one.acknowledged_at === null)).toEqual([])
  expect(new Set(requests.map(idOf)).size).toBe(150)
  expect(new Set(requests.map(one => `${idOf(one)} ${String(one.body)}`)).size).toBe(150)
  expect(new Set(requests.map(one => `${idOf(one)} ${attemptOf(one)}`)).size).toBe(requests.length)
})

// The database refuses one kind of change of a delivery.
async function refusing(change: string, work: () => Promise<void>) {
  await query(
    post.url,
    `create or replace function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused by the test'; end $$`,
  )
  await query(
    post.url,
    `create trigger refuse before update on deliveries for each row when (${change})
    execute function refuse()`,
  )
  try {
    await work()
  } finally {
    await query(post.url, 'drop trigger refuse on deliveries')
  }
}

test('a step that cannot take gives its slots back, and the next one takes', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = post.dispatcher(outbound)
  for (let at = 0; at < 30; at++)
    await post.tell({ merchant_id: post.ids[at % 8] as string, url: `https://shop${at}.example/` })
  await refusing('new.lease_token is not null', async () => {
    for (let step = 0; step < 10; step++) {
      dispatcher.requestPoll()
      await expect(dispatcher.step()).rejects.toThrow('refused by the test')
      expect(dispatcher.inFlight()).toBe(0)
    }
  })
  await carryAll(dispatcher)
  expect(requests.map(attemptOf)).toEqual(Array.from({ length: 30 }, () => 1))
})

test('a step that cannot hold still sends what it has chosen', async () => {
  const sent: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      if (request.url.includes('dead')) return fails('timeout')
      sent.push(referenceOf(request))
      return thanks()
    }),
  )
  const tellDead = () => post.tell({ merchant_id: ama, url: 'https://dead.example/' })
  for (let at = 0; at < 5; at++) await tellDead()
  await carryAll(dispatcher)
  await tellDead()
  const told = await post.tell({ merchant_id: ama, url: 'https://alive.example/' })
  await refusing('new.parked and not old.parked', async () => {
    dispatcher.requestPoll()
    await dispatcher.step()
    await dispatcher.finished()
    expect(sent).toEqual([told])
    expect(post.troubles.splice(0)).toMatchObject([{ message: 'refused by the test' }])
  })
  await carryAll(dispatcher)
  expect(sent).toEqual([told])
  expect((await post.deliveries()).filter(({ parked: held }) => held)).toHaveLength(1)
})
