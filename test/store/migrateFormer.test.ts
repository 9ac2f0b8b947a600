import { afterAll, beforeAll, expect, test } from 'vitest'
import { whyNotBegin, whyNotStore } from '../../src/core/fitDatabase.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { appliedMigrations, migrationNames } from '../../src/store/migrate/ledger.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { readDatabaseState } from '../../src/store/serverFacts.ts'
import { catalogOf } from '../support/catalog.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { onlyThese } from '../support/migrations.ts'

const { former, tables, changes } = migrationNames()

const opened: { database: FreshDatabase; db: Db }[] = []
async function newDatabase(): Promise<Db> {
  const database = await freshDatabase()
  const db = openDb(database.url, 2)
  opened.push({ database, db })
  return db
}
afterAll(async () => {
  await Promise.all(opened.map(({ db }) => db.end()))
  await Promise.all(opened.map(({ database }) => database.drop()))
})

let fresh: string[] // as this version makes it
beforeAll(async () => {
  const db = await newDatabase()
  expect(await migrate(db)).toEqual([...tables, ...changes])
  fresh = await catalogOf(db.url)
})

// The check of an attempt's states was replaced without a look at the rows that were there. A new row is held to it all
// the same.
const asChecked = (lines: string[]) =>
  lines.map(line =>
    line.startsWith('constraint attempts_state_check') ? line.replace(' NOT VALID', '') : line,
  )

async function isServed(db: Db) {
  const state = await readDatabaseState(db)
  expect(whyNotBegin(state, migrationNames())).toBeUndefined()
  expect(whyNotStore(state, migrationNames())).toBeUndefined()
  expect(asChecked(await catalogOf(db.url))).toEqual(fresh)
}

test('no former step is forgotten: a database that took it would be refused as newer', () => {
  expect(former).toHaveLength(58)
  expect(former.filter(name => [...tables, ...changes].includes(name))).toEqual([])
})

test('a database with all of the former steps is up to date: not refused as newer, nothing runs', async () => {
  const db = await newDatabase()
  expect(await migrate(db, { folder: onlyThese(former) })).toEqual(former)
  expect(await migrate(db)).toEqual(changes)
  await isServed(db)
  // A node of the version before knows no others, and would stop serving.
  expect(await appliedMigrations(db)).toEqual([...former, ...changes].toSorted())
})

for (const count of [1, 38, 45, former.length - 1])
  test(`a database that stopped after ${count} of the former steps takes the others`, async () => {
    const db = await newDatabase()
    await migrate(db, { folder: onlyThese(former.slice(0, count)) })
    expect(await migrate(db)).toEqual([...former.slice(count), ...changes])
    expect(await migrate(db)).toEqual([])
    await isServed(db)
  })

test('what such a database holds goes along', async () => {
  const db = await newDatabase()
  await migrate(db, { folder: onlyThese(former.slice(0, 38)) })
  await db.rows(sql`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency,
      request_digest, created_at, updated_at, expires_at)
    values ('ama0000000', 'TG-1', 'test', 'I-1', 'token', 'paid', 500, 'GHS', '', now(), now(), now())`)
  await db.rows(sql`
    insert into attempts (merchant_id, attempt_id, tx_reference, number, channel, payment_method, state, provider_ref,
      created_at, updated_at)
    values ('ama0000000', 'ama0000000one', 'TG-1', 1, 'sandbox', 'card', 'paid', 'R-1', now(), now())`)
  await migrate(db)
  expect(await db.rows(sql`select status, late, left_by from payments`)).toEqual([
    { status: 'paid', late: false, left_by: [] },
  ])
  expect(await db.rows(sql`select attempt_id, sends from attempts`)).toEqual([
    { attempt_id: 'ama0000000one', sends: 1 },
  ])
  expect(await db.rows(sql`select account, reference from paid_references`)).toEqual([
    { account: 'sandbox', reference: 'R-1' },
  ])
})

test('cut off between the tables of an empty database, the next start makes the others', async () => {
  const db = await newDatabase()
  await migrate(db, { folder: onlyThese(tables.slice(0, 7)) })
  expect(await migrate(db)).toEqual([...tables.slice(7), ...changes])
  await isServed(db)
})

// Both found it empty, and the former one was stopped half-way.
test('nodes of this version and the one before that began at once leave a database that goes on', async () => {
  const db = await newDatabase()
  await migrate(db, { folder: onlyThese(tables) })
  await migrate(db, { folder: onlyThese(former.slice(0, 44)) })
  expect(await migrate(db)).toEqual([...former.slice(44), ...changes])
  await isServed(db)
})
