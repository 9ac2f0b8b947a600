import type { DatabaseState } from '../core/fitDatabase.ts'
import { sqlState } from './databaseErrors.ts'
import { named, type Query, sql, type Tx } from './db.ts'

// Version, settings, connections and clock of the database server.
export type ServerFacts = {
  version: string
  version_num: number
  fsync: string
  synchronous_commit: string
  full_page_writes: string
  connections: number // available to ordinary users
  role_connections: number // that this role may open; -1: no limit
  database_connections: number // the same of this database
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
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) as connections,
      (select rolconnlimit from pg_roles where rolname = current_user) as role_connections,
      (select datconnlimit from pg_database where datname = current_database()) as database_connections,
      (select sum(numbackends)::int from pg_stat_database) as in_use,
      clock_timestamp() as now`)

// One cheap statement, which every check whether payments can be stored runs. A session does not see that its database or
// role was made read-only after it began, so that is read from the catalog.
export async function readDatabaseState(tx: Tx): Promise<DatabaseState> {
  try {
    return await readState(tx, appliedMigrations)
  } catch (error) {
    if (!isUndefinedTable(error)) throw error
    return readState(tx, sql`'[]'::json`) // no migration was applied yet
  }
}

// Through to_jsonb, because the table of an unreleased version has fewer columns.
const appliedMigrations = sql`(
  select coalesce(json_agg(json_build_object(
    'name', name,
    'compatible', coalesce((to_jsonb(m)->>'compatible')::bool, false),
    'served', to_jsonb(m)->>'served_at' is not null
  ) order by name), '[]') from migrations m)`

// Every release records its migrations in a table with the column `compatible`, in the transaction that creates the
// tables. If Tollgate's tables exist without it, an unreleased version has created them.
const unreleased = sql`
  coalesce(to_regclass('migrations'), to_regclass('merchants'), to_regclass('payments')) is not null
  and not exists (select from pg_attribute
    where attrelid = to_regclass('migrations') and attname = 'compatible' and not attisdropped)`

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
      ${unreleased} as unreleased,
      ${applied} as applied`)
  if (!state) throw new Error('the database returned no state')
  return state
}

const isUndefinedTable = (error: unknown) => sqlState(error) === '42P01'

// The database's clock, to the microsecond. now() would be the start of the transaction.
export async function readDatabaseMs(tx: Tx): Promise<number> {
  const read = await tx.one<{ ms: number }>(
    named('database_ms')`select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`,
  )
  if (!read) throw new Error('the database returned no time')
  return read.ms
}
