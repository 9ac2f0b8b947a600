import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migrationNames, readMigration } from '../../src/store/migrate/migrationList.ts'
import { appendOnlyTables, tablePlaces } from '../../src/store/migrate/tablePlaces.ts'
import { missingObjects } from '../../src/store/soundness.ts'
import { type FreshDatabase, freshDatabase, migratedDatabase } from '../support/database/database.ts'
import { isSharded, titleOnSharded } from '../support/database/shardedDatabase.ts'

const placesOf = async (db: Db) => {
  const found = await db.rows<{ name: string; place: string }>(sql`
    select c.relname as name, case when p.partmethod = 'h' then column_to_column_name(p.logicalrelid, p.partkey)
      when p.repmodel = 't' then 'reference' else 'coordinator_for_all' end as place
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where p.partmethod <> 'n' or p.repmodel = 't' or not p.autoconverted`)
  return Object.fromEntries(found.map(({ name, place }) => [name, place]))
}

const wantedPlaces = Object.fromEntries(
  Object.entries(tablePlaces)
    .filter(([, place]) => place !== 'coordinator')
    .map(([name, place]) => [name, place]),
)

describe.skipIf(!isSharded)(titleOnSharded('the tables of a new database'), () => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await migratedDatabase()
    db = openDb(database.url, 2)
  })
  afterAll(async () => {
    await db?.end()
    await database?.drop()
  })

  test('are where they belong, and those of merchants together', async () => {
    expect(await placesOf(db)).toEqual(wantedPlaces)
    const groups = await db.rows(sql`
      select distinct colocationid from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relname = any(${Object.keys(wantedPlaces).filter(name => wantedPlaces[name] === 'merchant_id')}::text[])`)
    expect(groups).toHaveLength(1)
  })

  test('stay as they are when it is migrated again', async () => {
    const said: string[] = []
    expect(await migrate(db, { onProgress: text => said.push(text) })).toEqual([])
    expect(said).toEqual([])
  })

  test('lack nothing that doctor expects', async () => {
    expect(await missingObjects(db)).toEqual([])
  })

  for (const name of appendOnlyTables)
    for (const change of [`delete from ${name}`, `truncate ${name}`])
      test(`refuse: ${change}`, async () => {
        await expect(db.rows(sql([change]))).rejects.toMatchObject({ code: '42501' })
      })
})

// A database that was on one server, to which workers were added.
describe.skipIf(!isSharded)(titleOnSharded('tables with rows'), () => {
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase()
    await applyMigrations(database.url, migrationNames())
    db = openDb(database.url, 2)
    await addRows(db)
  })
  afterAll(async () => {
    await db?.end()
    await database?.drop()
  })

  test('are not distributed by a start, which says what to do', async () => {
    const said: string[] = []
    await migrate(db, { onProgress: text => said.push(text) })
    expect(said).toEqual([
      expect.stringMatching(/merchants, payments, attempts, transfers.*tollgate migrate/),
    ])
    expect(await placesOf(db)).toEqual({})
  })

  test('keep their rows when the command distributes them, also after it was interrupted', async () => {
    await db.rows(sql`select create_reference_table('merchants')`)
    await db.rows(sql`select create_distributed_table('payments', 'merchant_id')`)
    const said: string[] = []
    await migrate(db, { mayMoveRows: true, onProgress: text => said.push(text) })
    expect(said.at(-1)).toMatch(
      /^Distributed to the workers of Citus: merchant_keys, .*attempts, .*paid_references\.$/,
    )
    expect(await placesOf(db)).toEqual(wantedPlaces)
    const counts = await db.one(sql`
      select (select count(*)::integer from merchants) as merchants,
        (select count(*)::integer from payments join attempts using (merchant_id, tx_reference)) as attempts,
        (select count(*)::integer from transfers) as transfers`)
    expect(counts).toEqual({ merchants: 5, attempts: 40, transfers: 40 })
  })
})

// Later migrations change tables that are distributed already.
describe.skipIf(!isSharded)(titleOnSharded('a database of an earlier release'), () => {
  const lastOfThen = '0036_ledger_mails.sql'
  let database: FreshDatabase
  let db: Db
  beforeAll(async () => {
    database = await freshDatabase()
    db = openDb(database.url, 2)
    await migrate(db, { until: lastOfThen })
    await addRows(db)
  })
  afterAll(async () => {
    await db?.end()
    await database?.drop()
  })

  test('is migrated, and its new tables are distributed', async () => {
    await migrate(db)
    expect(await placesOf(db)).toEqual(wantedPlaces)
    expect(await missingObjects(db)).toEqual([])
  })
})

async function applyMigrations(url: string, names: readonly string[]) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`create table migrations (name text primary key, applied_at timestamptz not null default now(),
      compatible boolean not null default false, served_at timestamptz)`)
    for (const name of names) {
      const { text, inTransaction } = readMigration(name)
      for (const part of inTransaction ? [text] : text.split(/;[ \t]*$/m)) await client.query(part)
      await client.query('insert into migrations (name) values ($1)', [name])
    }
  } finally {
    await client.end()
  }
}

async function addRows(db: Db) {
  const statements = [
    sql`insert into merchants (merchant_id, name, master_key_id, wrapped_key, created_at)
      select 'm' || n, 'Shop', 'k', 'x', now() from generate_series(1, 5) as n`,
    sql`insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency,
        request_digest, created_at, updated_at, expires_at)
      select 'm' || n % 5 + 1, 'r' || n, 'test', 'i' || n, 't' || n, 'paid', 5, 'GHS', 'x', now(), now(), now()
      from generate_series(1, 40) as n`,
    sql`insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state,
        created_at, updated_at)
      select merchant_id, 'a' || tx_reference, tx_reference, 1, 'simulated', 'momo', 'paid', now(), now() from payments`,
    sql`insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
        happened_at, created_at)
      select merchant_id, tx_reference, 'test', 'GHS', 'a', 'b', 5, 'charge', now(), now() from payments`,
  ]
  for (const statement of statements) await db.rows(statement)
}
