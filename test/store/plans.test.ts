import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, named, openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 1) // one connection, which all that follows goes through
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const mode = () => sql`select current_setting('plan_cache_mode') as mode`
const byName = named('plan_mode')`select current_setting('plan_cache_mode') as mode`
const modes = { named: { mode: 'force_generic_plan' }, other: { mode: 'auto' } }

test('each kind of statement is planned in its own way, whatever went before it', async () => {
  for (const [query, expected] of [
    [mode(), modes.other],
    [byName, modes.named],
    [byName, modes.named],
    [mode(), modes.other],
    [byName, modes.named],
  ] as const)
    expect(await db.one(query)).toEqual(expected)
})

const both = (fails: boolean) =>
  db.transaction(async tx => {
    expect(await Promise.all([tx.one(mode()), tx.one(byName), tx.one(mode())])).toEqual([
      modes.other,
      modes.named,
      modes.other,
    ])
    expect(await tx.one(byName)).toEqual(modes.named)
    if (fails) await tx.rows(sql`select 1 / 0`)
  })

test('in a transaction too, and what it has set ends with it, however it ends', async () => {
  for (const before of [byName, mode()]) {
    await db.one(before)
    await both(false)
    expect(await db.one(mode())).toEqual(modes.other)
    await db.one(before)
    await expect(both(true)).rejects.toThrow('division by zero')
    expect(await db.one(byName)).toEqual(modes.named)
    expect(await db.one(mode())).toEqual(modes.other)
  }
})

test('SET TRANSACTION is the first statement of its transaction, whatever went before it', async () => {
  for (const before of [byName, mode()]) {
    await db.one(before)
    const level = await db.transaction(async tx => {
      await tx.rows(sql`set transaction isolation level repeatable read`)
      expect(await tx.one(mode())).toEqual(modes.other)
      return tx.one(sql`select current_setting('transaction_isolation') as level`)
    })
    expect(level).toEqual({ level: 'repeatable read' })
  }
})

type Node = { 'Node Type': string; Plans?: Node[] }
const nodesOf = (node: Node): string[] => [node['Node Type'], ...(node.Plans ?? []).flatMap(nodesOf)]

const find = () => named('find_kept')`
  select k.words from unnest(${['a', 'b']}::text[]) as wanted (id) join kept k on k.id = wanted.id`

test('a named statement is planned once, and goes by its keys even where the table was empty', async () => {
  await db.rows(sql`create table kept (id text primary key, words text)`)
  for (let at = 0; at < 10; at++) await db.rows(find())
  const facts = await db.one(sql`
    select generic_plans::integer as generic, custom_plans::integer as custom from pg_prepared_statements
    where name = 'find_kept'`)
  expect(facts).toEqual({ generic: 10, custom: 0 })
  const explained = await db.one<{ 'QUERY PLAN': { Plan: Node }[] }>(
    named('explain_kept')`explain (format json) execute find_kept (array['a'])`,
  )
  const nodes = nodesOf(explained?.['QUERY PLAN'][0]?.Plan as Node)
  expect(nodes).toContain('Index Scan')
  expect(nodes).not.toContain('Seq Scan')
})
