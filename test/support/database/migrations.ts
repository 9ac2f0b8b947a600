import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from 'pg'
import { expect } from 'vitest'
import { migrationNames, readMigration } from '../../../src/store/migrate/migrationList.ts'
import { afterFile } from '../vitest/afterFile.ts'
import { query } from './database.ts'

// A folder of migrations of a later version.
export function migrationFolder(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'))
  afterFile(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return pathToFileURL(`${folder}/`)
}

// The migrations of this release and the given later ones.
export const laterRelease = (files: Record<string, string>): URL =>
  migrationFolder({
    ...Object.fromEntries(migrationNames().map(name => [name, readMigration(name).text])),
    ...files,
  })

// A concurrent transaction that stays open until `end`.
export async function openTransaction(url: string, ...statements: string[]) {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  for (const text of ['begin isolation level repeatable read', ...statements]) await client.query(text)
  return { end: () => client.end() }
}

export const isValid = async (url: string, index: string) =>
  (
    await query(url, 'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)', [index])
  )[0]?.valid

// A statement that waits until the table "gate" has a row.
export const waitAtGate =
  'do $$ begin while not exists (select from gate) loop perform pg_sleep(0.05); end loop; end $$'

const patience = { timeout: 20_000, interval: 100 }

const someoneIs = (url: string, state: string, statement: string) =>
  expect
    .poll(
      async () =>
        (
          await query(
            url,
            `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
               and ${state} and query ilike $1`,
            [`%${statement}%`],
          )
        ).length,
      patience,
    )
    .toBeGreaterThan(0)

export const waitsForLock = (url: string, statement: string) =>
  someoneIs(url, `wait_event_type = 'Lock'`, statement)

export const isRunning = (url: string, statement: string) => someoneIs(url, `state = 'active'`, statement)
