import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { groupStatement, type StatementPart } from '../../src/store/groupStatement.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'

let database: FreshDatabase
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 1)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const parts = (count: number): StatementPart[] =>
  Array.from({ length: count }, (_, at) =>
    Object.assign(sql`select ${at}::int as n`, { name: `a_part_${at}` }),
  )
const lastOf = (count: number) =>
  groupStatement(parts(count), Object.assign(sql`select * from a_part_0`, { name: 'same' }))

// PostgreSQL keeps the first 63 bytes of a name, so two longer ones can be the same.
test('statements of many parts have names of their own, on one connection', async () => {
  const counts = [1, 2, 5, 9, 10, 11, 20]
  const names = counts.map(count => lastOf(count).name ?? '')
  expect(new Set(names.map(name => name.slice(0, 63))).size).toBe(counts.length)
  expect(Math.max(...names.map(name => Buffer.byteLength(name)))).toBeLessThanOrEqual(63)
  expect(lastOf(20).name).toBe(names.at(-1))
  for (const count of counts) expect(await db.rows(lastOf(count))).toEqual([{ n: 0 }])
})
