import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Db, openDb } from '../../../src/store/db.ts'
import {
  adoptDatabase,
  markDatabaseAsCopy,
  markDatabaseAsMoved,
} from '../../../src/store/installation/copies.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'

const now = new Date()
let database: FreshDatabase
let db: Db
beforeEach(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 1)
})
afterEach(async () => {
  await db.end()
  await database.drop()
})

const stored = async () => ({
  rows: await query(database.url, 'select state, reason, moved_to, system_identifier from installation'),
  addresses: (await query(database.url, 'select address from installation_addresses order by 1')).map(
    row => row.address as string,
  ),
})

test('a database is marked as a copy, or as moved, and adopted', async () => {
  await adoptDatabase(db, { address: 'a:5432/t b:5432/t', system_identifier: '7', now })
  const original = { state: 'original', reason: '', moved_to: '', system_identifier: '7' }
  expect(await stored()).toEqual({ rows: [original], addresses: ['a:5432/t', 'b:5432/t'] })

  await markDatabaseAsCopy(db, { reason: 'restored from a backup', now })
  expect((await stored()).rows).toEqual([{ ...original, state: 'copy', reason: 'restored from a backup' }])

  await markDatabaseAsMoved(db, { movedTo: 'c:5432/t', now })
  expect((await stored()).rows).toEqual([{ ...original, state: 'moved', moved_to: 'c:5432/t' }])

  await adoptDatabase(db, { address: 'b:5432/t', system_identifier: null, now })
  expect(await stored()).toEqual({
    rows: [{ ...original, system_identifier: null }],
    addresses: ['b:5432/t'],
  })
})

test('a database is marked before its first node starts', async () => {
  await markDatabaseAsCopy(db, { reason: 'restored from a backup', now })
  expect((await stored()).rows).toMatchObject([{ state: 'copy' }])
})
