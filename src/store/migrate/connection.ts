import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Unavailable } from '../../core/interface/refusal.ts'
import { hostsOf } from '../connections/hosts.ts'
import { codeOf } from '../databaseErrors.ts'

export const lockTimeoutMs = 2000 // who waits for a lock holds up everybody behind it
const connectTimeoutMs = 3000
const patienceMs = 30_000 // with a primary that is away
const retryPauseMs = 500

// A change of the schema may take an hour. That nobody is left at this end is noticed all the same: a node that was
// killed, paused or cut off keeps nobody else from migrating.
const settings: Record<string, string> = {
  statement_timeout: '0',
  transaction_timeout: '0', // from PostgreSQL 17 on
  lock_timeout: `${lockTimeoutMs}ms`,
  idle_in_transaction_session_timeout: '60s',
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
}
const onLinuxAlone = `set client_connection_check_interval = '5s'`

export type Alone = {
  pid: number // of the session at the other end
  ask<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  isOver(): boolean
  end(): Promise<void>
}

// A connection outside of the pool, to whichever host is the primary.
export async function connectAlone(url: string): Promise<Alone> {
  const hosts = hostsOf(url)
  const started = performance.now()
  for (let tries = 0; ; tries++) {
    try {
      return await connect(hosts[tries % hosts.length] as string)
    } catch (error) {
      if (!isGone(error)) throw error
      if (performance.now() - started > patienceMs) throw new Unavailable(error)
    }
    await sleep(retryPauseMs)
  }
}

async function connect(connectionString: string): Promise<Alone> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'tollgate migration',
  })
  let over = false
  client.on('error', () => {}) // told again by the statement that was running
  client.on('end', () => (over = true))
  await client.connect()
  try {
    const { rows } = await client.query('select pg_is_in_recovery() as standby, pg_backend_pid() as pid')
    if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
    await client.query(
      `select set_config(s.name, given.value, false) from pg_settings s
         join unnest($1::text[], $2::text[]) as given (name, value) using (name)`,
      [Object.keys(settings), Object.values(settings)],
    )
    await client.query(onLinuxAlone).catch(() => {})
    return {
      pid: rows[0].pid,
      ask: async (text, values) => (await client.query(text, values)).rows,
      isOver: () => over,
      end: () => client.end().catch(() => {}),
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

// Another one has what we need, or waits for what we have.
export const isLockedOut = (error: unknown) => ['55P03', '40P01'].includes(codeOf(error))

// The server, or the way to it, and not what it was asked.
export const isGone = (error: unknown) =>
  /^(08|57P|25006|25P03|53300|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)/.test(codeOf(error)) ||
  /Connection terminated|timeout expired|not queryable/i.test(error instanceof Error ? error.message : '')
