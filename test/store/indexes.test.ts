import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../support/database/database.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

// Each costs every write and stays for ever, so each has a line that says what needs it.
test('every index of what grows is listed with its purpose, and no other', async () => {
  const rows = await query(
    lives.url,
    `select tablename || ' ' || indexname as name from pg_indexes where schemaname = 'public'
       and tablename in ('payments', 'attempts', 'events', 'notifications', 'deliveries', 'tries', 'paid_references',
         'transfers')`,
  )
  const page = readFileSync('docs/archive.md', 'utf8')
  const lines = [...page.matchAll(/^\| `(\w+)` \| `(\w+)` \| [\d.]+ \| \S.{10,} \|$/gm)]
  const listed = lines.map(([, table, index]) => `${table} ${index}`)
  expect(listed.toSorted()).toEqual(rows.map(({ name }) => name as string).toSorted())
})

test('no two of them are the same', async () => {
  const doubled = await query(
    lives.url,
    `select indrelid::regclass as name from pg_index
     group by indrelid, indkey::text, indpred::text, indexprs::text having count(*) > 1`,
  )
  expect(doubled).toEqual([])
})
