import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationNames, readMigration } from '../../src/store/migrate/migrationList.ts'
import { catalogOf } from '../support/database/catalog.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'

let database: FreshDatabase
beforeAll(async () => void (database = await migratedDatabase()))
afterAll(() => database.drop())

test('migrations are numbered without a gap', () => {
  const numbers = migrationNames().map(name => Number(/^(\d{4})_[a-z_]+\.sql$/.exec(name)?.[1]))
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
})

test('a comment above every table and index says what it is for', () => {
  const text = migrationNames()
    .map(name => readMigration(name).text)
    .join('\n')
  const found = [...text.matchAll(/^(.*)\n(create (?:table|(?:unique )?index) \w+)/gm)]
  expect(found.length).toBeGreaterThan(30)
  expect(found.filter(([, above]) => !above?.startsWith('-- ')).map(([, , what]) => what)).toEqual([])
})

// catalogOf() compares an upgraded schema with a new one: it must miss no kind of difference.
for (const change of [
  'alter table attempts reset (fillfactor)',
  'alter table payments alter late set default true',
  'alter table payments alter late drop not null',
  'alter table payments alter total type numeric',
  'alter table payments alter description set storage external',
  'alter table payments drop constraint payments_total_check',
  'alter table attempts drop constraint attempts_merchant_id_tx_reference_fkey',
  'alter table events drop column cause',
  'alter table events add extra text',
  'drop index payments_due; create index payments_due on payments (expires_at)',
  'drop index attempts_open; create index attempts_open on attempts (merchant_id, tx_reference)',
  'drop index tries_by_start; create index tries_by_start on tries (started_at) with (fillfactor = 70)',
  'create table more (n int)',
  'create sequence steps',
  `create type mood as enum ('yes')`,
])
  test(`a schema differs by: ${change}`, async () => {
    const before = await catalogOf(database.url)
    await query(database.url, change)
    expect(await catalogOf(database.url)).not.toEqual(before)
  })
