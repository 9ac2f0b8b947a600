import { sql, type Tx } from './db.ts'

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
