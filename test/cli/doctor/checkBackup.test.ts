import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBackup } from '../../../src/cli/doctor/checkWork.ts'
import { addBackup } from '../../../src/store/backups/backups.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'
import { seedPayment } from '../../support/dashboard/seedPayments.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const now = new Date('2026-05-02T12:00:00Z')
const backedUp = (taken_at: Date) =>
  addBackup(db, {
    backup_id: taken_at.toISOString(),
    taken_at,
    finished_at: taken_at,
    bytes: 1n,
    payments: 1n,
    is_encrypted: true,
    verified_at: null,
  })

test('with live payments, doctor warns without a backup and with an old one', async () => {
  expect(await checkBackup(db, now)).toBeUndefined()
  await seedPayment(db, { merchant_id: '7c2k9m0x4f', at: now })
  expect(await checkBackup(db, now)).toMatchObject({
    state: 'warning',
    fact: 'none was made by tollgate backup',
  })
  await backedUp(new Date('2026-05-01T03:00:00Z'))
  expect(await checkBackup(db, now)).toMatchObject({ state: 'warning', fact: 'the last one is 33 h old' })
  await backedUp(new Date('2026-05-02T03:00:00Z'))
  expect(await checkBackup(db, now)).toMatchObject({ state: 'ok', fact: 'the last one is 9 h old' })
})
