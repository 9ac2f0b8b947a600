import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { Unavailable } from '../../src/core/interface/refusal.ts'
import { createBatcher } from '../../src/runtime/batcher.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'

vi.setConfig({ testTimeout: 120_000 }) // its polls wait for up to 60 s

let database: FreshDatabase
let proxy: PostgresProxy
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  proxy = await startPostgresProxy(database.url)
  db = openDb(proxy.url, 4)
})
afterEach(() => proxy.release())
afterAll(async () => {
  await db.end()
  await proxy.stop()
  await database.drop()
})

const one = () => db.rows(sql`select 1`)

const ask = () => db.withDeadline(performance.now() + 4000).rows(sql`select 1`)

// Somebody waits all the time: where the machine has no time it takes longer to believe than one of them waits.
async function askUntilItHangs() {
  const asking = setInterval(() => void ask().catch(() => {}), 2000)
  await expect.poll(db.isHanging, { timeout: 60_000 }).toBe(true)
  clearInterval(asking)
}

// What it came to, without any waiting for a clock.
async function atOnce(work: Promise<unknown>) {
  let outcome: unknown = 'still waiting'
  work.then(
    () => void (outcome = 'answered'),
    (error: unknown) => void (outcome = error),
  )
  for (let turns = 0; turns < 20; turns++) await nextTurn()
  return outcome
}

test('a database that hangs is known to: who asks is told at once, and answered when it is back', async () => {
  await one()
  proxy.hold()
  const first = ask()
  expect(await atOnce(first)).toBe('still waiting')
  await askUntilItHangs()
  expect(await atOnce(one())).toBeInstanceOf(Unavailable)
  expect(await atOnce(db.transaction(tx => tx.rows(sql`select 1`)))).toBeInstanceOf(Unavailable)
  await expect(first).rejects.toBeInstanceOf(Unavailable)
  proxy.release()
  await expect.poll(db.isHanging, { timeout: 60_000 }).toBe(false)
  expect(await one()).toHaveLength(1)
})

test('a queue before a database that hangs lets nobody in', async () => {
  let hanging = true
  const batcher = createBatcher<number, number>({
    run: async items => items,
    maxRows: 3,
    maxInFlight: 1,
    maxQueued: 10,
    isHanging: () => hanging,
  })
  await expect(batcher.add(1)).rejects.toBeInstanceOf(Unavailable)
  hanging = false
  expect(await batcher.add(2)).toBe(2)
})

test('one slow statement is no sign of it', async () => {
  const slow = db.rows(sql`select pg_sleep(3)`)
  for (let looks = 0; looks < 140; looks++) {
    expect(db.isHanging()).toBe(false)
    await sleep(20)
  }
  await slow
  expect(await one()).toHaveLength(1)
})

test('nor is a server that refuses: who asks waits for it to come back', async () => {
  await proxy.goDown()
  const asked = one()
  await sleep(2500)
  expect(db.isHanging()).toBe(false)
  expect(await atOnce(asked)).toBe('still waiting')
  await proxy.comeUp()
  expect(await asked).toHaveLength(1)
})
