import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { failureOf } from '../../src/cli/failure.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migrationNames, pendingMigrations } from '../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import {
  isRunning,
  migrationFolder,
  openTransaction,
  waitAtGate,
  waitsForLock,
} from '../support/database/migrations.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 4)
  await migrate(db)
})
beforeEach(() =>
  query(
    database.url,
    'drop table if exists notes, gate; create table notes (text text); create table gate (open int)',
  ),
)
afterAll(async () => {
  await db.end()
  await database.drop()
})

const openGate = () => query(database.url, 'insert into gate values (1)')

const columns = async () =>
  (
    await query(
      database.url,
      `select attname from pg_attribute where attrelid = 'notes'::regclass and attnum > 0 and not attisdropped`,
    )
  ).map(({ attname }) => attname)

test('a migration that runs longer than statement_timeout is applied', async () => {
  const folder = migrationFolder({ '9001_long.sql': 'select pg_sleep(9); alter table notes add long int' })
  const words: string[] = []
  expect(await migrate(db, { folder, onProgress: text => words.push(text) })).toEqual(['9001_long.sql'])
  expect(words).toEqual([
    expect.stringMatching(/^The migration 9001_long.sql is running, for \d seconds now\.$/),
  ])
  expect(await columns()).toEqual(['text', 'long'])
})

test('if nothing is pending nothing is locked', async () => {
  const other = await openTransaction(database.url, 'lock table migrations in share mode')
  expect(await migrate(db)).toEqual([])
  await other.end()
})

test('readers of the migrations table do not wait for a running migration', async () => {
  const folder = migrationFolder({ '9002_slow.sql': waitAtGate })
  const migrating = migrate(db, { folder })
  await isRunning(database.url, 'from gate')
  expect(await pendingMigrations(db)).toEqual([])
  await openGate()
  expect(await migrating).toEqual(['9002_slow.sql'])
})

test('a migration that waits for a table lock lets other statements through, and retries', async () => {
  const folder = migrationFolder({ '9003_wait.sql': 'alter table notes add patient int' })
  const report = await openTransaction(database.url, 'select * from notes')
  const words: string[] = []
  const migrating = migrate(db, { folder, onProgress: text => words.push(text) })
  migrating.catch(() => {}) // told below
  for (let round = 1; round <= 2; round++) {
    await waitsForLock(database.url, 'alter table notes')
    await query(database.url, `insert into notes values ('in time')`) // behind the one that waits
    expect(await pendingMigrations(db)).toEqual([])
  }
  await report.end()
  expect(await migrating).toEqual(['9003_wait.sql'])
  expect(await columns()).toEqual(['text', 'patient'])
  expect(await query(database.url, 'select * from notes')).toHaveLength(2)
  expect(words.join()).toMatch(
    /has to wait for a lock that (process \d+ \(.*idle in transaction\)|another session) holds/,
  )
})

test('two nodes at once: one applies, the other waits for it', async () => {
  const folder = migrationFolder({
    '9004_first.sql': waitAtGate,
    '9005_second.sql': 'alter table notes add two int',
  })
  const nodes = [openDb(database.url, 1), openDb(database.url, 1)]
  const words: string[] = []
  const migrating = Promise.all(
    nodes.map(node => migrate(node, { folder, onProgress: text => words.push(text) })),
  )
  await expect.poll(() => words.join(), { timeout: 20_000 }).toContain('Another node is migrating')
  await openGate()
  expect((await migrating).flat().sort()).toEqual(migrationNames(folder))
  await Promise.all(nodes.map(node => node.end()))
})

test('a migration that fails is rolled back and reported', async () => {
  const folder = migrationFolder({ '9006_wrong.sql': 'alter table notes add half int; select 1 / 0' })
  const error = await migrate(db, { folder }).catch((thrown: unknown) => thrown)
  expect(failureOf(error)).toMatchObject({
    exit: 69,
    message: 'The migration 9006_wrong.sql failed and was rolled back: division by zero.',
  })
  expect(await columns()).toEqual(['text'])
  expect(await db.rows(sql`select from migrations where name = '9006_wrong.sql'`)).toEqual([])
})

test('a migration whose connection is lost is applied by the next start', async () => {
  const folder = migrationFolder({ '9007_cut.sql': `${waitAtGate}; alter table notes add cut int` })
  const migrating = migrate(db, { folder })
  await isRunning(database.url, 'from gate')
  await query(
    database.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where query like '%from gate%' and pid <> pg_backend_pid()`,
  )
  await openGate()
  expect(await migrating).toEqual(['9007_cut.sql'])
  expect(await columns()).toEqual(['text', 'cut'])
})

test('a user who may not create tables gets an error, and no connection stays open', async () => {
  const fresh = await freshDatabase()
  await query(fresh.url, `create role guest login password 'guest'`)
  const guest = openDb(fresh.url.replace(/\/\/.*@/, '//guest:guest@'), 1)
  const error = await migrate(guest).catch((thrown: unknown) => thrown)
  await guest.end()
  expect(failureOf(error).message).toBe(
    'The database user lacks a privilege (permission denied for schema public): grant it, or use another user in DATABASE_URL.',
  )
  const guests = () => query(fresh.url, `select from pg_stat_activity where usename = 'guest'`)
  await expect.poll(guests).toEqual([])
  await fresh.drop()
  await query(database.url, 'drop role guest')
})
