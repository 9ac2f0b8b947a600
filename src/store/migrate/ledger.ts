import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Migrations, missingIn } from '../../core/fitDatabase.ts'
import { sql, type Tx } from '../db.ts'

const ours = new URL('../migrations/', import.meta.url)

// Migrations that this program brings, each list in its order. Another folder is a test's or a bench's.
export const migrationNames = (folder = ours): Migrations => (folder === ours ? ourNames : namesIn(folder))

function namesIn(folder: URL): Migrations {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.sql'))
    .sort()
  return {
    former: files.filter(name => name.startsWith(former)).map(name => name.slice(former.length)),
    tables: files.filter(name => name.startsWith('tables/')),
    changes: files.filter(name => !name.includes('/')),
  }
}

// Ledgers have these names without it: they are older than the folder. It can go when no database is left that was made
// before the tables were folded.
const former = 'former/'

// Read once: /readyz compares them with the database, and a gateway that has dropped root's rights may not be able to
// read the folder.
const ourNames = namesIn(ours)

export type Migration = { name: string; text: string }

export function readMigration(name: string, folder = ours): Migration {
  const path = migrationNames(folder).former.includes(name) ? former + name : name
  return { name, text: readFileSync(fileURLToPath(new URL(path, folder)), 'utf8') }
}

// Of a database that has none yet, nothing was applied.
export async function appliedMigrations(tx: Tx): Promise<string[]> {
  const ledger = await tx.one<{ there: boolean }>(sql`select to_regclass('migrations') is not null as there`)
  if (!ledger?.there) return []
  return (await tx.rows<{ name: string }>(sql`select name from migrations order by name`)).map(
    row => row.name,
  )
}

export const pendingMigrations = async (tx: Tx, folder?: URL): Promise<string[]> =>
  missingIn({ applied: await appliedMigrations(tx) }, migrationNames(folder))
