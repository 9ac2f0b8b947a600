import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  addBackup,
  type FinishedBackup,
  lastBackup,
  recordVerified,
} from '../../../src/store/backups/backups.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 1)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const backupAt = (backup_id: string, taken: string): FinishedBackup => ({
  backup_id,
  taken_at: new Date(taken),
  finished_at: new Date('2026-05-02T12:00:00Z'),
  bytes: 5_000_000_000n,
  payments: 12n,
  is_encrypted: true,
  verified_at: null,
})

test('the last backup is the one with the newest data', async () => {
  expect(await lastBackup(db)).toBeUndefined()
  const newer = backupAt('b2', '2026-05-02T10:00:00Z')
  await addBackup(db, newer)
  await addBackup(db, backupAt('b1', '2026-05-01T10:00:00Z'))
  await addBackup(db, { ...newer, bytes: 1n }) // a repeated statement changes nothing
  expect(await lastBackup(db)).toEqual(newer)
})

test('a verified backup is recorded, and one of another database is not', async () => {
  const now = new Date('2026-05-02T13:00:00Z')
  expect(await recordVerified(db, 'b2', now)).toBe(true)
  expect(await recordVerified(db, 'unknown', now)).toBe(false)
  expect((await lastBackup(db))?.verified_at).toEqual(now)
})
