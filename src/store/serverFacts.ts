import type { DatabaseState } from '../core/fitDatabase.ts'
import { type Query, sql, type Tx } from './db.ts'

// What the database server says about itself.
export type ServerFacts = {
  version: string
  version_num: number
  fsync: string
  synchronous_commit: string
  full_page_writes: string
  connections: number // that ordinary users can have
  in_use: number
  now: Date
}

export const readServerFacts = (tx: Tx) =>
  tx.one<ServerFacts>(sql`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int as version_num,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections,
      (select sum(numbackends)::int from pg_stat_database) as in_use,
      clock_timestamp() as now`)

// One cheap statement, for every look at whether payments can be stored. That a database or a role was made read-only
// is known to new sessions alone, so it is read where they will read it.
export async function readDatabaseState(tx: Tx): Promise<DatabaseState> {
  try {
    return await readState(tx, sql`array(select name from migrations order by name)`)
  } catch (error) {
    if (!isUndefinedTable(error)) throw error
    return readState(tx, sql`'{}'::text[]`) // nobody has migrated yet
  }
}

async function readState(tx: Tx, applied: Query): Promise<DatabaseState> {
  const state = await tx.one<DatabaseState>(sql`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int as version_num,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('transaction_read_only')::bool or coalesce((
        select split_part(setting, '=', 2)::bool
        from pg_db_role_setting, unnest(setconfig) as setting
        where setdatabase in (0, (select oid from pg_database where datname = current_database()))
          and setrole in (0, (select oid from pg_roles where rolname = session_user))
          and setting like 'default_transaction_read_only=%'
        order by setrole <> 0 desc, setdatabase <> 0 desc
        limit 1
      ), false) as read_only,
      ${applied} as applied`)
  if (!state) throw new Error('the database says nothing about itself')
  return state
}

const isUndefinedTable = (error: unknown) => (error as { code?: string }).code === '42P01'
