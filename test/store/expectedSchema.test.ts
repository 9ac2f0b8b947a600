import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectedSchema } from '../../src/store/migrate/expectedSchema.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'

let database: FreshDatabase
beforeAll(async () => void (database = await migratedDatabase()))
afterAll(() => database.drop())

// What doctor expects is read from the text of the migrations. If this fails after a new migration, expectedSchema.ts does
// not understand one of its statements.
test('the schema that doctor expects is the one that the migrations make', async () => {
  const made = await query(
    database.url,
    `select 'table ' || relname as object from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
     union all select 'column ' || relname || '.' || attname from pg_attribute join pg_class c on c.oid = attrelid
       where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
     union all select 'primary key of ' || relname from pg_constraint join pg_class c on c.oid = conrelid
       where contype = 'p' and connamespace = 'public'::regnamespace
     union all select 'index ' || relname from pg_class where relkind = 'i' and relnamespace = 'public'::regnamespace
       and not exists (select from pg_constraint where conindid = pg_class.oid)
     union all select 'trigger ' || tgname from pg_trigger where not tgisinternal
     union all select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace`,
  )
  const ledger = /^(table|column|primary key of) migrations\b/ // the migrator makes it
  const names = made.map(({ object }) => object as string).filter(object => !ledger.test(object))
  expect(
    expectedSchema()
      .map(({ object }) => object)
      .toSorted(),
  ).toEqual(names.toSorted())
})
