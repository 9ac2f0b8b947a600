import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sql, type Tx } from '../db.ts'

const ours = new URL('../migrations/', import.meta.url)

// Migrations that this program brings, in their order. Another folder is a test's or a bench's.
export const migrationNames = (folder = ours) =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()

export type Migration = { name: string; text: string }

export const readMigration = (name: string, folder = ours): Migration => ({
  name,
  text: readFileSync(fileURLToPath(new URL(name, folder)), 'utf8'),
})

// Of a database that has none yet, nothing was applied.
export async function appliedMigrations(tx: Tx): Promise<string[]> {
  const ledger = await tx.one<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`)
  if (!ledger?.there) return []
  return (await tx.rows<{ name: string }>(sql`select name from migrations order by name`)).map(
    row => row.name,
  )
}

export async function pendingMigrations(tx: Tx, folder?: URL): Promise<string[]> {
  const applied = new Set(await appliedMigrations(tx))
  return migrationNames(folder).filter(name => !applied.has(name))
}
