import pg from 'pg'
import type { BackupTotals } from '../../core/backup/manifest.ts'
import { sql, type Tx } from '../db.ts'
import type { CopyTable } from './copySession.ts'

// What a backup reads of a snapshot besides its rows, and what a restore compares with it.

const namesOf = (tables: readonly string[]) => sql([tables.map(name => pg.escapeIdentifier(name)).join(', ')])

// The lock of a reader: a migration waits until the backup has ended. As the first statement of a transaction it takes no
// snapshot, so the snapshot has everything that was committed before the lock.
export const lockForReading = (tx: Tx, tables: readonly string[]) =>
  tx.rows(sql`lock table ${namesOf(tables)} in access share mode`)

// Until the end of the transaction nobody else writes.
export const lockForRestore = (tx: Tx, tables: readonly string[]) =>
  tx.rows(sql`lock table ${namesOf(tables)} in exclusive mode`)

export async function columnsOf(tx: Tx, tables: readonly string[]): Promise<CopyTable[]> {
  const found = await tx.rows<CopyTable>(sql`
    select t.name, array_agg(a.attname::text order by a.attnum) as columns
    from unnest(${tables}::text[]) as t (name)
    join pg_attribute a on a.attrelid = to_regclass(quote_ident(t.name)) and a.attnum > 0
      and not a.attisdropped and a.attgenerated = ''
    group by t.name`)
  const byName = new Map(found.map(table => [table.name, table]))
  return tables.map(name => byName.get(name) ?? { name, columns: [] })
}

export const readTotals = async (tx: Tx): Promise<BackupTotals> => ({
  payments: await tx.rows(sql`
    select mode, status, count(*)::double precision as count from payments group by 1, 2 order by 1, 2`),
  transfers: await tx.rows(sql`
    select mode, currency, count(*)::double precision as count, sum(amount)::text as amount
    from transfers group by 1, 2 order by 1, 2`),
})

type SnapshotFacts = { taken_at: Date; migrations: string[]; master_keys: string[] }

// The time of the snapshot: later changes are not in it. Its schema, and the keys that its secrets need.
export async function readSnapshotFacts(tx: Tx): Promise<SnapshotFacts> {
  const facts = await tx.one<SnapshotFacts>(sql`
    select clock_timestamp() as taken_at,
      (select array_agg(name order by name) from migrations) as migrations,
      array(select master_key_id from merchants union select master_key_id from provider_accounts
        union select master_key_id from installation_secrets order by 1) as master_keys`)
  if (!facts) throw new Error('the database returned no facts')
  return facts
}

// About how many rows there are in all, for the progress. Undefined: the database does not know.
export async function estimateRows(tx: Tx, tables: readonly string[]): Promise<number | undefined> {
  const found = await tx.one<{ rows: number | null }>(sql`
    select case when min(c.reltuples) >= 0 then sum(c.reltuples)::double precision end as rows
    from unnest(${tables}::text[]) as t (name) join pg_class c on c.oid = to_regclass(quote_ident(t.name))
    where c.relpages > 0 or c.reltuples > 0`)
  return found?.rows ?? undefined
}

// The tables of a database, without those of extensions.
export const presentTables = async (tx: Tx): Promise<string[]> =>
  (
    await tx.rows<{ name: string }>(sql`
      select c.relname as name from pg_class c
      where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
        and not exists (select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1`)
  ).map(({ name }) => name)

// The first of these tables that has a row.
export async function firstWithRows(tx: Tx, tables: readonly string[]): Promise<string | undefined> {
  for (const name of tables) if (await tx.one(sql`select from ${namesOf([name])} limit 1`)) return name
  return undefined
}

export const emptyTable = (tx: Tx, table: string) => tx.rows(sql`delete from ${namesOf([table])}`)

export async function countRows(tx: Tx, tables: readonly string[]) {
  const counts: { name: string; rows: number }[] = []
  for (const name of tables) {
    const found = await tx.one<{ rows: number }>(
      sql`select count(*)::double precision as rows from ${namesOf([name])}`,
    )
    counts.push({ name, rows: found?.rows ?? 0 })
  }
  return counts.filter(({ name }) => !marks.has(name))
}

// Tables about the database itself, which differ after a move.
const marks = new Set(['installation', 'installation_addresses'])

export const readInstallationMark = (tx: Tx) =>
  tx.one<{ state: 'original' | 'copy' | 'moved'; reason: string; moved_to: string }>(
    sql`select state, reason, moved_to from installation`,
  )
