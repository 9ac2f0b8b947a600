import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Unavailable } from '../../core/interface/refusal.ts'
import { announcedProcessId } from '../connections/pooler.ts'
import { connectToPrimary } from '../connections/primarySession.ts'
import { sqlState, isAlreadyThere } from '../databaseErrors.ts'
import type { Db } from '../db.ts'
import type { Migration } from './migrationList.ts'

// Later statements wait behind a waiting lock request. Those of the gateway give up after the lock timeout of the pool.
export const lockTimeoutMs = 500
const connectTimeoutMs = 3000
const primaryTimeoutMs = 30_000
const retryPauseMs = 500

// A migration may run for an hour. The server still detects that this process was killed, paused or cut off, so that its
// locks do not block the migrations of other nodes.
const settings: Record<string, string> = {
  statement_timeout: '0',
  transaction_timeout: '0', // from PostgreSQL 17 on
  lock_timeout: `${lockTimeoutMs}ms`,
  idle_in_transaction_session_timeout: '60s',
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
}
const onLinuxOnly = `set client_connection_check_interval = '5s'`

export type MigrationSession = {
  pid: number // of the server process; behind a pooler, of the one that has the last transaction
  isPooled: boolean // the session may be another one in each transaction
  isSharded: boolean // by Citus
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  isClosed(): boolean
  close(): Promise<void>
}

const setAll = `
  select set_config(s.name, wanted.value, $3), pg_backend_pid() as pid from pg_settings s
    join unnest($1::text[], $2::text[]) as wanted (name, value) using (name)`

// The primary that the pool reads the pending migrations from.
export type MigratedDb = Pick<Db, 'sessionUrl' | 'acceptsTimeline'>

// A connection to the primary outside of the pool.
export async function openMigrationSession(db: MigratedDb): Promise<MigrationSession> {
  for (const started = performance.now(); ; await sleep(retryPauseMs))
    try {
      return await connect(db)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      if (performance.now() - started > primaryTimeoutMs) throw new Unavailable(error)
    }
}

async function connect({ sessionUrl, acceptsTimeline }: MigratedDb): Promise<MigrationSession> {
  const options = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'tollgate migration',
  }
  const { client, isOpen } = await connectToPrimary(sessionUrl, options, acceptsTimeline)
  try {
    const { rows } = await client.query(
      `select pg_backend_pid() as pid, exists (select from pg_extension where extname = 'citus') as sharded`,
    )
    const isPooled = rows[0].pid !== announcedProcessId(client)
    if (!isPooled) {
      await client.query(setAll, [Object.keys(settings), Object.values(settings), false])
      await client.query(onLinuxOnly).catch(() => {})
    }
    return {
      pid: rows[0].pid,
      isPooled,
      isSharded: rows[0].sharded,
      query: async (text, values) => (await client.query(text, values)).rows,
      isClosed: () => !isOpen(),
      close: () => client.end().catch(() => {}),
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

// The record of applied migrations. It is created here because it has to exist before the first migration.
//   compatible: nodes of the previous release may run beside this migration.
//   served_at: when a node that has this migration was first ready.
export async function createMigrationsTable(session: MigrationSession) {
  try {
    await session.query(`
      create table if not exists migrations (
        name text primary key,
        applied_at timestamptz not null default now(),
        compatible boolean not null default false,
        served_at timestamptz
      )`)
  } catch (error) {
    // Two nodes that create it at the same moment collide despite "if not exists".
    if (!isAlreadyThere(error)) throw error
  }
}

export class MigrationLockBusy extends Error {}

// Starts a transaction that holds the migration lock: one node migrates at a time. The lock does not block readers of the
// table.
export async function beginWithMigrationLock(session: MigrationSession) {
  await session.query('begin')
  if (session.isPooled) await setForTransaction(session)
  try {
    await session.query('lock table migrations in share update exclusive mode')
  } catch (error) {
    throw isLockConflict(error) ? new MigrationLockBusy('', { cause: error }) : error
  }
}

// The settings would stay in a session that other programs use.
async function setForTransaction(session: MigrationSession) {
  const rows = await session.query<{ pid: number }>(setAll, [
    Object.keys(settings),
    Object.values(settings),
    true,
  ])
  session.pid = rows[0]?.pid ?? session.pid
}

export const isApplied = async (session: MigrationSession, { name }: Migration) =>
  (await session.query('select from migrations where name = $1', [name])).length > 0

export const recordApplied = (session: MigrationSession, { name, compatible }: Migration) =>
  session.query('insert into migrations (name, compatible) values ($1, $2) on conflict do nothing', [
    name,
    compatible,
  ])

// A lock timeout or a deadlock.
export const isLockConflict = (error: unknown) => ['55P03', '40P01'].includes(sqlState(error))

// The server or the network failed, not the statement.
export const isConnectionLost = (error: unknown) =>
  /^(08|57P|25006|25P03|53300|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)/.test(
    sqlState(error),
  ) ||
  /Connection terminated|timeout expired|not queryable/i.test(error instanceof Error ? error.message : '')
