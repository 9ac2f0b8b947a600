import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ShardUnavailable } from '../../src/core/interface/refusal.ts'
import { type Db, openDb, sql, type Tx } from '../../src/store/db.ts'
import { type TakeStatements, takeUnlocked } from '../../src/store/skipLocked.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'
import { withoutSkipLocked } from '../support/database/withoutSkipLocked.ts'

// Rows to take, and a database that skips what is locked beside one that refuses to.
let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 4)
  await db.rows(sql`create table things (id integer primary key, taken boolean not null default false)`)
})
beforeEach(async () => {
  await db.rows(sql`truncate things`)
  await db.rows(sql`insert into things (id) select generate_series(1, 5)`)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

type Thing = { id: number }

const things: TakeStatements<Thing, Thing> = {
  skipping: tx =>
    tx.rows(sql`
      update things set taken = true
      where id in (select id from things where not taken for update skip locked) returning id`),
  find: tx => tx.rows(sql`select id from things where not taken order by id`),
  waiting: (tx, keys) =>
    tx.rows(sql`
      update things set taken = true
      where id = any(${keys.map(({ id }) => id)}) and not taken returning id`),
}

const idsOf = (taken: readonly Thing[]) => taken.map(({ id }) => id).toSorted((a, b) => a - b)

const wrong = () => Promise.reject(new Error('no'))

const timeoutOf = async (tx: Tx) =>
  (await tx.one<{ lock_timeout: string }>(sql`show lock_timeout`))?.lock_timeout

// What happens while somebody holds some of them.
const whileHeld = <T>(ids: number[], work: () => Promise<T>) =>
  db.transaction(async tx => {
    await tx.rows(sql`select from things where id = any(${ids}) for update`)
    return work()
  })

for (const [name, open] of [
  ['a database that skips', () => ({ db, refused: () => 0 })],
  ['a database that refuses to skip', () => withoutSkipLocked(db)],
] as const)
  describe(name, () => {
    test('nothing is held: all are taken, once', async () => {
      const { db: own } = open()
      expect(idsOf(await takeUnlocked(own, things))).toEqual([1, 2, 3, 4, 5])
      expect(await takeUnlocked(own, things)).toEqual([])
    })

    for (const held of [[1], [3], [5], [2, 4], [1, 2, 3, 4, 5]])
      test(`${held.join(', ')} held: the others are taken, and these when they are let go`, async () => {
        const { db: own } = open()
        const taken = await whileHeld(held, () => takeUnlocked(own, things))
        expect(idsOf(taken)).toEqual([1, 2, 3, 4, 5].filter(id => !held.includes(id)))
        expect(idsOf(await takeUnlocked(own, things))).toEqual(held)
      })

    test('what fails for another reason fails', async () => {
      await expect(takeUnlocked(open().db, { ...things, skipping: wrong, waiting: wrong })).rejects.toThrow(
        'no',
      )
    })
  })

test('a worker of a sharded database is gone: its rows are left out', async () => {
  const { db: own } = withoutSkipLocked(db)
  const taken = await takeUnlocked(own, {
    ...things,
    waiting: (tx, keys) =>
      keys.some(({ id }) => id === 2)
        ? Promise.reject(new ShardUnavailable('gone'))
        : things.waiting(tx, keys),
  })
  expect(idsOf(taken)).toEqual([1, 3, 4, 5])
})

test('what is refused once is not asked for again', async () => {
  const { db: own, refused } = withoutSkipLocked(db)
  await takeUnlocked(own, things)
  await takeUnlocked(own, things)
  expect(refused()).toBe(1)
})

test('the short lock timeout ends with its transaction', async () => {
  const { db: own } = withoutSkipLocked(db)
  const before = await timeoutOf(db)
  const inside: (string | undefined)[] = []
  await takeUnlocked(own, {
    ...things,
    async waiting(tx, keys) {
      inside.push(await timeoutOf(tx))
      return things.waiting(tx, keys)
    },
  })
  expect([before, inside, await timeoutOf(db)]).toEqual(['1s', ['100ms'], '1s'])
})
