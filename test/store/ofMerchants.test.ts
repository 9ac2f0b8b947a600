import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { ofMerchants } from '../../src/store/groupStatement.ts'
import { migrationNames, readMigration } from '../../src/store/migrate/migrationList.ts'
import { findPayments } from '../../src/store/payments/payments.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'

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

const sources = readdirSync('src/store', { recursive: true, withFileTypes: true })
  .filter(file => file.isFile() && file.name.endsWith('.ts'))
  .map(file => join(file.parentPath, file.name))

// The top-level parts of a file: a statement stands in one of them.
const partsOf = (text: string) => text.split(/^(?=export |async |const |function )/m)

// Looks into a table by a list of keys, written here or by a helper of the same file.
const isByKeys = /(join|from|using)\s+(\$\{\w+\}\s+)?(unnest|\$\{unnest\w*|\$\{keysOf|\$\{ids)/
const tableNames = new Set(
  migrationNames().flatMap(name =>
    [...readMigration(name).text.matchAll(/^create table (\w+)/gm)].map(([, table]) => table),
  ),
)
// A part of a statement of several goes by its name, and is no table.
const joined = /\bjoin (?!unnest)(\w+)/g
const findsRows = (part: string) =>
  /\bupdate \w|\bdelete from|unnest\w*\([^)]*\)\} join/.test(part) ||
  [...part.matchAll(joined)].some(([, name = '']) => tableNames.has(name))
// or is of one, as each statement of a batch is on a sharded database
const namesThem = /ofMerchants\(|ofWhom|isOfKey\(|merchant_id = \$\{merchant_id\}/

// Where only the database that skips what is locked comes: a sharded one refuses it, and has another way. Those with
// `due` in them take it from either.
const skipping = /skip locked/

test('statements about many keys name their merchants, so that only their shards are asked', () => {
  const found: string[] = []
  const without: string[] = []
  for (const file of sources)
    for (const part of partsOf(readFileSync(file, 'utf8'))) {
      if (!isByKeys.test(part) || !findsRows(part) || skipping.test(part)) continue
      found.push(file)
      if (!namesThem.test(part)) without.push(`${file}: ${part.slice(0, 60)}`)
    }
  expect(found.length).toBeGreaterThan(15) // else nothing was found, and nothing is proved
  expect(tableNames.size).toBeGreaterThan(10)
  expect(without).toEqual([])
})

test('it takes the rows of these merchants, each named once', async () => {
  const found = await db.rows(sql`
    select merchant_id from (values ('a'), ('b'), ('c')) as t (merchant_id)
    where ${ofMerchants('t', [{ merchant_id: 'a' }, { merchant_id: 'c' }, { merchant_id: 'a' }])}`)
  expect(found).toEqual([{ merchant_id: 'a' }, { merchant_id: 'c' }])
  expect(ofMerchants('t', [{ merchant_id: 'a' }, { merchant_id: 'a' }]).values).toEqual([['a']])
})

test('payments of many merchants are found by their keys, not by reading the table', async () => {
  await query(
    database.url,
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency,
       request_digest, created_at, updated_at, expires_at)
     select 'm' || i % 200, 'r' || i, 'test', 'i' || i, 't' || i, 'paid', 100, 'GHS', '', now(), now(), now()
     from generate_series(1, 20000) as i`,
  )
  await query(database.url, 'analyze payments')
  const keys = Array.from({ length: 64 }, (_, at) => ({
    merchant_id: `m${at}`,
    mode: 'test' as const,
    invoice_id: `i${at + 200}`,
  }))
  let plan = ''
  const explaining = {
    ...db,
    rows: async <Row>(asked: Parameters<Db['rows']>[0]) => {
      const rows = await query(database.url, `explain ${asked.text}`, asked.values)
      plan = rows.map(row => String(Object.values(row)[0])).join('\n')
      return db.rows<Row>(asked)
    },
  }
  expect((await findPayments(explaining, keys)).filter(Boolean)).toHaveLength(64)
  expect(plan).toContain('Index Scan using payments_merchant_id_mode_invoice_id_key')
  expect(plan).not.toContain('Seq Scan')
})
