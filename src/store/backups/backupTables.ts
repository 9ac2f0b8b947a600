import { readMigration } from '../migrate/migrationList.ts'

// The table of the nodes that run is about the present, and a restored database has none of them.
const notData = new Set(['nodes'])

// The tables of a schema, in the order in which the migrations create them: a table comes after those that its foreign keys
// name. Tables that an operator has added to the database are not among them.
export const backupTables = (migrations: readonly string[]): string[] =>
  createdTables(migrations).filter(name => !notData.has(name))

export const createdTables = (migrations: readonly string[]): string[] =>
  migrations.flatMap(name =>
    [...readMigration(name).text.matchAll(/^create table (\w+)/gm)].map(([, table]) => table as string),
  )
