import { expect, test } from 'vitest'
import { createdTables } from '../../src/store/backups/backupTables.ts'
import { expectedSchema } from '../../src/store/migrate/expectedSchema.ts'
import { migrationNames, readMigration } from '../../src/store/migrate/migrationList.ts'
import { appendOnlyTables, tablePlaces } from '../../src/store/migrate/tablePlaces.ts'

const objects = expectedSchema().map(({ object }) => object)
const names = Object.keys(tablePlaces)

test('every table has a place on a sharded PostgreSQL, and every place a table', () => {
  const tables = ['migrations', ...createdTables(migrationNames())]
  expect(names.toSorted()).toEqual(tables.toSorted())
})

// A unique index of a distributed table can only hold on one worker.
test('the column by which a table is distributed is in its primary key and unique constraints', () => {
  const text = migrationNames()
    .map(name => readMigration(name).text.replace(/--.*$/gm, ''))
    .join('\n')
  for (const [name, place] of Object.entries(tablePlaces)) {
    if (place !== 'merchant_id') continue
    const body = new RegExp(`create table ${name} \\(([^;]*)`).exec(text)?.[1] ?? ''
    const inside = [...body.matchAll(/(?:primary key|unique) \(([^)]*)\)/g)].map(([, columns]) => columns)
    const alone = [...body.matchAll(/^\s*(\w+) [^,]*\bprimary key/gm)].map(([, column]) => column)
    const indexes = [
      ...text.matchAll(
        /create unique index (?:concurrently )?(?:if not exists )?\w+\s+on (\w+) \(([^)]*)\)/g,
      ),
    ]
    const own = indexes.filter(([, table]) => table === name).map(([, , columns]) => columns)
    const keys = [...inside, ...alone, ...own]
    expect(keys.length, name).toBeGreaterThan(0)
    for (const key of keys) expect(key?.split(/,\s*/), name).toContain(place)
  }
})

test('a table comes after those that its foreign keys name', () => {
  for (const name of migrationNames())
    for (const [, table = '', body = ''] of readMigration(name).text.matchAll(
      /create table (\w+) \(([^;]*)/g,
    ))
      for (const [, other = ''] of body.replace(/--.*$/gm, '').matchAll(/\breferences (\w+)/g))
        expect(names.indexOf(other), `${table} names ${other}`).toBeLessThan(names.indexOf(table))
})

// The trigger is what protects the rows where nothing is distributed.
test('the triggers of the schema are those of the append-only tables', () => {
  const triggers = objects.filter(object => object.startsWith('trigger '))
  expect(triggers.toSorted()).toEqual(appendOnlyTables.map(name => `trigger ${name}_append_only`).toSorted())
})
