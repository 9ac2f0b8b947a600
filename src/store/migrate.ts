import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isAlreadyThere } from './databaseErrors.ts'
import { type Db, sql, type Tx } from './db.ts'

const folder = new URL('./migrations/', import.meta.url)

// Applies what is missing, in order, and gives back the names. Several nodes may do this at once: one
// applies, the others wait at the table lock and find nothing left to do.
export async function migrate(db: Db): Promise<string[]> {
  await createLedger(db)
  const applied: string[] = []
  for (const name of migrationNames()) {
    const text = readFileSync(fileURLToPath(new URL(name, folder)), 'utf8')
    const isNew = await db.transaction(async tx => {
      await tx.rows(sql`lock table migrations in access exclusive mode`)
      if (await tx.one(sql`select 1 from migrations where name = ${name}`)) return false
      await tx.rows({ text, values: [] } as never)
      await tx.rows(sql`insert into migrations (name) values (${name})`)
      return true
    })
    if (isNew) applied.push(name)
  }
  return applied
}

export async function pendingMigrations(db: Tx): Promise<string[]> {
  const ledger = await db.one<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`)
  if (!ledger?.there) return migrationNames()
  const done = await db.rows<{ name: string }>(sql`select name from migrations`)
  return migrationNames().filter(name => !done.some(row => row.name === name))
}

export const migrationNames = () =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()

// `if not exists` still collides when two nodes create the table in the same moment; the loser looks again.
async function createLedger(db: Db) {
  try {
    await db.rows(
      sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`,
    )
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
  }
}
