import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Locked, Unavailable } from '../../src/core/interface/refusal.ts'
import { createBatcher } from '../../src/runtime/batcher.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'
import { cuts, startPostgresProxy } from '../support/database/postgresProxy.ts'

let database: FreshDatabase
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 4)
  await db.rows(sql`create table things (id integer primary key)`)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const one = () => db.rows(sql`select 1`)

test('one deadline for all that a request asks: the statement that meets it is the last', async () => {
  const done: number[] = []
  const work = db.withDeadline(performance.now() + 700).transaction(async tx => {
    for (let step = 1; step <= 20; step++) {
      await tx.rows(sql`select pg_sleep(0.2)`)
      done.push(step)
    }
  })
  await expect(work).rejects.toBeInstanceOf(Unavailable)
  const reached = done.length
  await sleep(500)
  expect(done.length).toBe(reached)
  expect(reached).toBeLessThan(20)
  expect(await one()).toHaveLength(1)
})

test('a connection that came too late for one is there for the next', async () => {
  const held = Array.from({ length: 4 }, () => db.rows(sql`select pg_sleep(0.6)`))
  await sleep(100)
  await expect(db.withDeadline(performance.now() + 100).rows(sql`select 1`)).rejects.toBeInstanceOf(
    Unavailable,
  )
  await Promise.all(held)
  expect(await Promise.all(Array.from({ length: 8 }, one))).toHaveLength(8)
  expect(db.stats().waiting).toBe(0)
})

test('a statement that gets an idle connection in this turn does not wait', async () => {
  await Promise.all(Array.from({ length: 4 }, one))
  const done = Promise.all(Array.from({ length: 6 }, one))
  expect(db.stats()).toEqual({ total: 4, idle: 4, waiting: 2 })
  await done
  expect(db.stats()).toEqual({ total: 4, idle: 4, waiting: 0 })
})

test('one verb has at most half of the connections, whatever it waits for', async () => {
  const paying = db.withQuota('pay')
  const slow = Array.from({ length: 6 }, () => paying.rows(sql`select pg_sleep(1)`))
  const order: string[] = []
  const theirs = Promise.all(slow).then(() => order.push('pay'))
  await sleep(50)
  expect(db.stats()).toMatchObject({ waiting: 0 })
  await db.withQuota('expire').rows(sql`select 1`)
  await one()
  order.push('others')
  await theirs
  expect(order).toEqual(['others', 'pay'])
})

test('who waits for a place longer than the deadline is told, and leaves the place to others', async () => {
  const paying = db.withQuota('pay')
  const slow = [1, 2].map(() => paying.rows(sql`select pg_sleep(0.5)`))
  const late = paying.withDeadline(performance.now() + 50).rows(sql`select 1`)
  const patient = paying.rows(sql`select 1`)
  await expect(late).rejects.toBeInstanceOf(Unavailable)
  await Promise.all(slow)
  expect(await patient).toHaveLength(1)
})

test('a locked row is told as such; in a batch it fails alone', async () => {
  await db.rows(sql`insert into things values (1), (2), (3)`)
  const touch = (ids: number[]) =>
    db.rows<{ id: number }>(sql`update things set id = id where id = any(${ids}) returning id`)
  const holder = new Client({ connectionString: database.url })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select 1 from things where id = 2 for update')
  await expect(touch([2])).rejects.toBeInstanceOf(Locked)
  const batcher = createBatcher<number, number>({
    run: async ids => {
      const touched = (await touch(ids)).map(({ id }) => id)
      return ids.map(id => touched.indexOf(id))
    },
    maxRows: 10,
    maxInFlight: 1,
    maxQueued: 10,
  })
  const answers = await Promise.allSettled([1, 2, 3].map(id => batcher.add(id)))
  expect(answers.map(answer => answer.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((answers[1] as PromiseRejectedResult).reason).toBeInstanceOf(Locked)
  await holder.end()
})

test('a transaction that stands still is ended by the database, and its rows are free', async () => {
  const standing = openDb(database.url, 1)
  await db.rows(sql`insert into things values (7)`)
  const work = standing.withDeadline(performance.now() + 9000).transaction(async tx => {
    await tx.rows(sql`select 1 from things where id = 7 for update`)
    await sleep(7000)
  })
  // Said at once: it may end while we still wait for the row, and then nobody would have heard of it.
  const ended = expect(work).rejects.toBeInstanceOf(Unavailable)
  await sleep(6000)
  await db.rows(sql`update things set id = 7 where id = 7`)
  await ended
  await standing.end()
})

// Nobody waits for the answer to `begin`, nor for what is written last before the commit is sent; and still each of them
// has somebody who hears how it ended.
for (const at of ['begin', 'select 1', 'select 2', 'select 3', 'commit'])
  for (const cut of cuts)
    test(`a connection that is cut at "${at}", ${cut}, is told once, and the work is done anew`, async () => {
      const unheard: unknown[] = []
      const hear = (error: unknown) => unheard.push(error)
      process.on('unhandledRejection', hear)
      const proxy = await startPostgresProxy(database.url)
      const behind = openDb(proxy.url, 1)
      let isCut = false
      proxy.onStatement = text => {
        if (text !== at || isCut) return undefined
        isCut = true
        return cut
      }
      let times = 0
      await behind.transaction(async tx => {
        times++
        await Promise.all([tx.rows(sql`select 1`), tx.rows(sql`select 2`)])
        void tx.writeWithCommit(sql`select 3`)
        void tx.writeWithCommit(sql`select 4`)
      })
      expect(times).toBe(2)
      await behind.end()
      await proxy.stop()
      await sleep(20)
      process.off('unhandledRejection', hear)
      expect(unheard).toEqual([])
    })
