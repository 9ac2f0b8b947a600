import { readdirSync, readFileSync } from 'node:fs'
import { missingIn } from '../../core/fitDatabase.ts'
import { sql, type Tx } from '../db.ts'
import { readDatabaseState } from '../serverFacts.ts'

const shippedFolder = new URL('../migrations/', import.meta.url)

// The migrations of this release by name, in the order in which they apply. Only tests and the bench name another folder.
export const migrationNames = (folder = shippedFolder): readonly string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .toSorted()

export type Migration = {
  name: string
  text: string
  compatible: boolean // nodes of the previous release may run beside it
  inTransaction: boolean
}

// The comment at the top of the file may have two directives, each on a separate line.
export function readMigration(name: string, folder = shippedFolder): Migration {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const header = /^(--.*\n)*/.exec(text)?.[0] ?? ''
  return {
    name,
    text,
    compatible: /^-- beside the previous release: yes$/m.test(header),
    inTransaction: !/^-- outside a transaction\b/m.test(header),
  }
}

// Each ends with a semicolon at the end of a line, which a comment may follow; not so within the body of a function.
export function statementsOf({ text }: Pick<Migration, 'text'>): string[] {
  const statements = ['']
  for (const line of text.split(/^/m)) {
    const current = (statements.pop() ?? '') + line
    statements.push(current)
    const isInBody = current.split('$$').length % 2 === 0
    if (!isInBody && /;\s*(--.*)?\n?$/.test(line) && !line.startsWith('--')) statements.push('')
  }
  return statements.filter(statement => /^\s*[^\s-]/m.test(statement))
}

export const pendingMigrations = async (tx: Tx, folder?: URL): Promise<string[]> =>
  missingIn(await readDatabaseState(tx), migrationNames(folder))

// Records that a node with these migrations is ready. Nodes without them stop being ready, unless the migrations are
// compatible. Nothing is written if it is recorded already, so that a node also starts on a read-only database.
export async function recordServed(tx: Tx, names: readonly string[]) {
  const unrecorded = sql`served_at is null and name = any(${names}::text[])`
  if (await tx.one(sql`select from migrations where ${unrecorded} limit 1`))
    await tx.rows(sql`update migrations set served_at = now() where ${unrecorded}`)
}

// When a node with this migration was first ready. Null: none has been yet.
export const servedSince = async (tx: Tx, name: string) =>
  (await tx.one<{ served_at: Date | null }>(sql`select served_at from migrations where name = ${name}`))
    ?.served_at ?? null
