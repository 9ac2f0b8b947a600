import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from 'pg'
import { afterAll } from 'vitest'
import { query } from './database.ts'

const folders: string[] = []
afterAll(() => folders.forEach(folder => rmSync(folder, { recursive: true, force: true })))

// A folder of migrations that a later version might bring.
export function migrationFolder(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return pathToFileURL(`${folder}/`)
}

// Somebody else's transaction, open until it is ended.
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

export const waitsForLock = async (url: string, statement: string) =>
  (
    await query(
      url,
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and wait_event_type = 'Lock' and query ilike $1`,
      [`%${statement}%`],
    )
  ).length > 0

export const isRunning = async (url: string, statement: string) =>
  (
    await query(
      url,
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and state = 'active' and query ilike $1`,
      [`%${statement}%`],
    )
  ).length > 0
