import { sql, type Tx } from '../db.ts'
import { beginWithMigrationLock, type MigrationSession } from './migrationSession.ts'
import { appendOnlyTables, tablePlaces } from './tablePlaces.ts'

// Puts the tables of a sharded PostgreSQL (Citus) where tablePlaces has them. Each table is one transaction, so an
// interrupted run is continued by the next one. A table that was distributed in another way stays as it is.

const wanted = Object.keys(tablePlaces).filter(name => tablePlaces[name] !== 'coordinator')

const hasCitus = async (tx: Tx) =>
  (await tx.one(sql`select from pg_extension where extname = 'citus'`)) !== undefined

const workers = sql`
  select from pg_dist_node where groupid <> 0 and noderole = 'primary' and isactive and shouldhaveshards limit 1`

// A local table that a foreign key connects with a reference table is in pg_dist_partition, too (n and s).
const isDistributed = sql`exists (select from pg_dist_partition p
  where p.logicalrelid = c.oid and (p.partmethod <> 'n' or p.repmodel = 't' or not p.autoconverted))`

const ours = (names: readonly string[]) => sql`
  c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('migrations'))
  and c.relname = any(${names}::text[])`

type Undistributed = {
  names: string[] // in the order in which they are distributed
  filled: string[] // of these, those with rows
}

// None where there is no Citus, or no worker yet.
export async function findUndistributed(tx: Tx): Promise<Undistributed> {
  if (!(await hasCitus(tx)) || !(await tx.one(workers))) return { names: [], filled: [] }
  const rows = await tx.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c where ${ours(wanted)} and not ${isDistributed}`)
  const found = new Set(rows.map(({ name }) => name))
  const names = wanted.filter(name => found.has(name))
  const filled: string[] = []
  for (const name of names) if (await tx.one(sql([`select from ${name} limit 1`]))) filled.push(name)
  return { names, filled }
}

// The tables with rows on the workers only.
export async function findSharded(tx: Tx): Promise<string[]> {
  if (!(await hasCitus(tx))) return []
  const found = await tx.rows<{ name: string }>(sql`
    select relname as name from pg_dist_partition join pg_class on pg_class.oid = logicalrelid where partmethod <> 'n'`)
  return found.map(({ name }) => name)
}

// Returns false if another node has distributed it.
export const distributeTable = (session: MigrationSession, name: string): Promise<boolean> =>
  withMigrationLock(session, async () => {
    const { text, values } = sql`select from pg_class c where ${ours([name])} and not ${isDistributed}`
    if ((await session.query(text, values)).length === 0) return false
    const isAppendOnly = appendOnlyTables.includes(name)
    if (isAppendOnly) await session.query(`drop trigger if exists ${name}_append_only on ${name}`)
    const place = tablePlaces[name]
    if (place === 'merchant_id') await session.query('select create_distributed_table($1, $2)', [name, place])
    else if (place === 'reference') await session.query('select create_reference_table($1)', [name])
    else await session.query('select citus_add_local_table_to_metadata($1)', [name])
    if (isAppendOnly) await protectByPrivileges(session, name)
    return true
  })

// Citus distributes no table with triggers. The owner can grant the rights again, as it can disable a trigger.
async function protectByPrivileges(session: MigrationSession, name: string) {
  await dropLocalRows(session, name) // which needs the right to truncate
  await session.query(`revoke update, delete, truncate on ${name} from public, current_user`)
}

// Citus leaves the rows that a table had before on the coordinator, where no statement finds them. They can go when the
// tables whose foreign keys name the table are distributed, too.
export const dropOldRows = (session: MigrationSession, names: readonly string[]) =>
  withMigrationLock(session, async () => {
    for (const name of names)
      if (!appendOnlyTables.includes(name) && tablePlaces[name] !== 'coordinator_for_all')
        await dropLocalRows(session, name)
  })

const dropLocalRows = (session: MigrationSession, name: string) =>
  session.query('select truncate_local_data_after_distributing_table($1)', [name])

async function withMigrationLock<T>(session: MigrationSession, work: () => Promise<T>): Promise<T> {
  try {
    await beginWithMigrationLock(session)
    const result = await work()
    await session.query('commit')
    return result
  } catch (error) {
    await session.query('rollback').catch(() => {}) // a lost connection has rolled back already
    throw error
  }
}
