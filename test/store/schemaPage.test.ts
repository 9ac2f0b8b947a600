import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { catalogOf } from '../support/catalog.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database.ts'

const page = readFileSync('src/store/schema.sql', 'utf8')

let real: FreshDatabase
let read: FreshDatabase // made from the page
beforeAll(async () => {
  ;[real, read] = await Promise.all([freshDatabase(), freshDatabase()])
  const db = openDb(real.url, 2)
  await migrate(db)
  await db.end()
  await query(read.url, page)
})
afterAll(() => Promise.all([real.drop(), read.drop()]))

test('the page of the schema says what the migrations make, all of it and nothing else', async () => {
  expect(await catalogOf(read.url)).toEqual(await catalogOf(real.url))
})

test('above every table and index it says what it is for', () => {
  const bare = [...page.matchAll(/^(.*)\n(create (?:table|(?:unique )?index) \w+)/gm)]
  expect(bare.length).toBeGreaterThan(30)
  expect(bare.filter(([, above]) => !above?.startsWith('-- ')).map(([, , what]) => what)).toEqual([])
})

// Each kind of thing that two schemas can differ in: none is overlooked by the first test.
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
    const before = await catalogOf(read.url)
    await query(read.url, change)
    expect(await catalogOf(read.url)).not.toEqual(before)
  })
