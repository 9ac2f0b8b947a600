import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { failureOf } from '../../src/cli/failure.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { isRunning, isValid, migrationFolder, openTransaction } from '../support/database/migrations.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 4)
  await migrate(db)
})
beforeEach(async () => {
  await query(database.url, 'drop table if exists notes; create table notes (text text)')
  await query(database.url, 'insert into notes select n::text from generate_series(1, 1000) n')
  await query(database.url, `delete from migrations where name like '9%'`)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const outside = (statement: string) => `-- outside a transaction: others write meanwhile\n${statement};\n`
const byText = migrationFolder({
  '9101_notes_by_text.sql': outside('create index concurrently if not exists notes_by_text on notes (text)'),
})
const onlyOnce = migrationFolder({
  '9102_notes_once.sql': outside('create unique index concurrently if not exists notes_once on notes (text)'),
})

test('an index is built outside a transaction, once, while others write', async () => {
  const old = await openTransaction(database.url, 'select 1') // its snapshot is what the build waits for
  const migrating = migrate(db, { folder: byText })
  await isRunning(database.url, 'create index concurrently')
  await query(database.url, `insert into notes values ('meanwhile')`)
  expect(await isValid(database.url, 'notes_by_text')).not.toBe(true)
  await old.end()
  expect(await migrating).toEqual(['9101_notes_by_text.sql'])
  expect(await isValid(database.url, 'notes_by_text')).toBe(true)
  expect(await migrate(db, { folder: byText })).toEqual([])
})

test('an invalid index of a failed build is rebuilt', async () => {
  await query(database.url, `insert into notes values ('1')`)
  const text = 'create unique index concurrently notes_once on notes (text)'
  await expect(query(database.url, text)).rejects.toThrow('could not create unique index')
  expect(await isValid(database.url, 'notes_once')).toBe(false)
  await query(database.url, `delete from notes where text = '1'`)
  expect(await migrate(db, { folder: onlyOnce })).toEqual(['9102_notes_once.sql'])
  expect(await isValid(database.url, 'notes_once')).toBe(true)
})

test('a build that fails is reported, and leaves no index that would refuse writes', async () => {
  await query(database.url, `insert into notes values ('1')`)
  const error = await migrate(db, { folder: onlyOnce }).catch((thrown: unknown) => thrown)
  expect(failureOf(error)).toMatchObject({
    exit: 69,
    message: 'The migration 9102_notes_once.sql failed: could not create unique index "notes_once".',
  })
  expect(await isValid(database.url, 'notes_once')).toBeUndefined()
})

test('indexes are dropped one after the other while others read, and again after an interruption', async () => {
  await query(database.url, 'create index notes_a on notes (text); create index notes_b on notes (text)')
  const folder = migrationFolder({
    '9103_notes_drop.sql': outside(
      'drop index concurrently if exists notes_a;\n-- the other one; too\ndrop index concurrently if exists notes_b',
    ),
  })
  const reading = await openTransaction(database.url, 'select count(*) from notes')
  const migrating = migrate(db, { folder })
  await isRunning(database.url, 'drop index concurrently if exists notes_a')
  await query(database.url, `insert into notes values ('meanwhile')`)
  await reading.end()
  expect(await migrating).toEqual(['9103_notes_drop.sql'])
  expect([await isValid(database.url, 'notes_a'), await isValid(database.url, 'notes_b')]).toEqual([
    undefined,
    undefined,
  ])
  await query(database.url, `delete from migrations where name like '9%'`)
  expect(await migrate(db, { folder })).toEqual(['9103_notes_drop.sql'])
})

test('two nodes at once build it once', async () => {
  const nodes = [openDb(database.url, 1), openDb(database.url, 1)]
  const applied = await Promise.all(nodes.map(node => migrate(node, { folder: byText })))
  expect(applied.flat()).toEqual(['9101_notes_by_text.sql'])
  await Promise.all(nodes.map(node => node.end()))
})

// A separate process that migrates, and can be killed.
function migratingNode(folder: URL): ChildProcess {
  const program = `
    const { build } = await import('./build.js')
    await build()
    const { openDb } = await import('./dist/store/db.js')
    const { migrate } = await import('./dist/store/migrate/migrate.js')
    await migrate(openDb(process.env.URL, 1), { folder: new URL(process.env.FOLDER) })`
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    env: { PATH: process.env.PATH, URL: database.url, FOLDER: folder.href },
    stdio: 'inherit',
  })
}

for (const orphan of ['goes on', 'is ended too'] as const)
  test(`a node is killed while it builds, and its build ${orphan}: the next start completes it`, async () => {
    const old = await openTransaction(database.url, 'select 1')
    const node = migratingNode(byText)
    const ended = once(node, 'exit')
    await isRunning(database.url, 'create index concurrently')
    await expect.poll(() => isValid(database.url, 'notes_by_text')).toBe(false) // it waits for the old transaction
    node.kill('SIGKILL')
    await ended
    if (orphan === 'is ended too')
      await query(
        database.url,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where query ilike '%create index concurrently%' and pid <> pg_backend_pid()`,
      )
    expect(await isValid(database.url, 'notes_by_text')).toBe(false)
    const migrating = migrate(db, { folder: byText })
    await isRunning(database.url, 'index concurrently')
    await old.end()
    expect(await migrating).toEqual(['9101_notes_by_text.sql'])
    expect(await isValid(database.url, 'notes_by_text')).toBe(true)
  })
