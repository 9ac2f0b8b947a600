import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { listNodes } from '../../src/actions/installation/nodes.ts'
import type { NodeFacts } from '../../src/core/operator/nodeList.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { openListeningSession } from '../../src/store/nodeSession.ts'
import { startNode } from '../../src/workers/node.ts'
import { startHeartbeat } from '../../src/workers/nodeHeartbeat.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'

vi.setConfig({ testTimeout: 60_000 })

const soon = { timeout: 40_000, interval: 20 }
const unwatched = { cannotListen() {}, died() {} }

let fresh: FreshDatabase
let db: Db
const stops: (() => Promise<void>)[] = []
beforeEach(async () => {
  fresh = await migratedDatabase()
  db = openDb(fresh.url, 4)
})
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
  await db.end()
  await fresh.drop()
})

const facts = (name: string): NodeFacts => ({
  name,
  listens_at: 'http://localhost:3000',
  version: '0.3.0',
  schema: 45,
  key_ids: ['0123456789abcdef'],
  database_address: 'db:5432',
  clock_offset_ms: 1.5,
  is_paused: false,
  role: 'all',
})

function start(name: string, ofNode = db) {
  const trouble = vi.fn()
  const node = startNode({ db: ofNode, clock: () => new Date(), onWakeUp() {}, watch: unwatched })
  const heartbeat = startHeartbeat({ db, node, facts: () => facts(name), trouble })
  stops.push(heartbeat.stop, node.stop)
  const stop = async () => {
    await node.stop()
    await heartbeat.stop()
  }
  return { heartbeat, stop, trouble }
}

const listed = async () => (await listNodes(db)).map(({ row, presence }) => `${row?.name} ${presence}`)
const listening = async () =>
  (await db.rows<{ name: string }>(sql`select name from nodes where is_listening order by 1`)).map(
    row => row.name,
  )

test('two nodes are in the list with what they say; one that stops removes its row', async () => {
  const ama = start('ama')
  start('kofi')
  await expect.poll(listening, soon).toEqual(['ama', 'kofi'])
  expect((await listed()).toSorted()).toEqual(['ama running', 'kofi running'])
  expect((await listNodes(db))[0]?.row).toMatchObject(facts((await listNodes(db))[0]?.row?.name ?? ''))
  await ama.stop()
  expect(await listed()).toEqual(['kofi running'])
})

test('a node that dies is gone at once, although it wrote its row a moment before', async () => {
  await db.rows(sql`select 1`)
  start('kofi')
  await expect.poll(listening, soon).toEqual(['kofi'])
  const dying = await openListeningSession(db, 4711, () => {})
  await db.rows(sql`insert into nodes select 'b', 4711, true, 'esi', 'http://localhost:3001', version, schema, key_ids,
    database_address, clock_offset_ms, is_paused, started_at + interval '1 second', seen_at, role from nodes`)
  expect(await listed()).toEqual(['kofi running', 'esi running'])
  await dying.close()
  await expect.poll(listed, soon).toEqual(['kofi running', 'esi gone'])
})

test('a node that cannot listen, as behind a transaction-mode pooler, is in the list', async () => {
  const unheard = { ...db, rows: async () => [] } as Db
  start('ama', unheard)
  await expect.poll(listed, soon).toEqual(['ama running'])
  await sleep(2500) // it has found out that it cannot listen
  expect([await listening(), await listed()]).toEqual([[], ['ama running']])
})

test('a lock without a row is listed as a node of an earlier release', async () => {
  const session = await openListeningSession(db, randomInt(1, 2 ** 31), () => {})
  stops.push(() => session.close())
  expect(await listed()).toEqual(['undefined unlisted'])
})

test('a heartbeat that fails is reported, and the next one succeeds; rows of an hour ago are removed', async () => {
  await db.rows(sql`alter table nodes rename to hidden_nodes`)
  const { heartbeat, trouble } = start('ama')
  await expect.poll(() => trouble.mock.calls.length, soon).toBeGreaterThan(0)
  await db.rows(sql`alter table hidden_nodes rename to nodes`)
  heartbeat.wake()
  await expect.poll(listed, soon).toEqual(['ama running'])
  await db.rows(sql`insert into nodes select 'old', 5, false, 'esi', listens_at, version, schema, key_ids,
    database_address, clock_offset_ms, is_paused, started_at, seen_at - interval '61 minutes', role from nodes`)
  start('kofi') // removes at its first heartbeat
  await expect
    .poll(async () => (await db.rows(sql`select from nodes where node = 'old'`)).length, soon)
    .toBe(0)
})
