import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { Locked, Unavailable } from '../core/refusal.ts'
import { readTimestamp } from './timestamps.ts'

export { sql }

const connectTimeoutMs = 3000
const queryTimeoutMs = 8000
const lockTimeoutMs = 1000 // a browser waits for it; workers skip what is locked
const idleInTransactionMs = 5000 // a node that was paused in the middle of its work holds no row for longer
const patienceMs = 5000 // how long a caller waits for a primary to come back
const retryPauseMs = 50
const connectionLifeSeconds = 300 // so that connections find their way back to a recovered host
const serializationTries = 5

// int8 arrives as bigint: it holds money.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp)

export type Query = Sql & { name?: string }
// A statement that PostgreSQL parses and plans once per connection. For what finds its rows by a key: such a plan stays
// right while the table grows.
export const named =
  (name: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Query =>
    Object.assign(sql(strings, ...values), { name })

export type Tx = {
  rows<Row>(query: Query): Promise<Row[]>
  one<Row>(query: Query): Promise<Row | undefined>
  count(query: Query): Promise<number> // of the rows that it has changed
  tuples<Tuple extends readonly unknown[]>(query: Query): Promise<Tuple[]> // rows without names: cheap, for very many
}
export type Db = Tx & {
  url: string // for whoever needs a connection of its own
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  stats(): { total: number; idle: number; waiting: number }
  end(): Promise<void>
}

export function openDb(url: string, poolSize: number, applicationName = 'tollgate'): Db {
  const hosts = hostsOf(url)
  let next = 0
  // With several hosts each new connection tries the next one, until one turns out to be the primary.
  class NextHostClient extends pg.Client {
    constructor(options: pg.ClientConfig) {
      super({ ...options, connectionString: hosts[next++ % hosts.length] })
    }
  }
  const pool = new pg.Pool({
    Client: NextHostClient as unknown as new () => pg.ClientBase, // the pool passes its options on
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    statement_timeout: queryTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    maxLifetimeSeconds: connectionLifeSeconds,
    keepAlive: true,
    application_name: applicationName,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, its types do not know
    onConnect: refuseStandby,
  })
  // An idle connection that dies is the pool's to replace; without a handler it would end the process.
  pool.on('error', () => {})

  const db: Db = {
    url,
    rows: query => withPrimary(pool, client => rowsOf(client, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => withPrimary(pool, client => countOf(client, query)),
    tuples: query => withPrimary(pool, client => tuplesOf(client, query)),
    transaction: work => withPrimary(pool, client => inTransaction(client, work)),
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    end: () => pool.end(),
  }
  return db
}

async function refuseStandby(client: pg.ClientBase) {
  client.on('error', () => {}) // told again by the statement that was running
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
}

const run = (client: pg.PoolClient, { text, values, name }: Query, rowMode?: 'array') =>
  client.query({ text, values, name, rowMode } as pg.QueryConfig)
const rowsOf = async <Row>(client: pg.PoolClient, query: Query): Promise<Row[]> =>
  (await run(client, query)).rows
const countOf = async (client: pg.PoolClient, query: Query) => (await run(client, query)).rowCount ?? 0
const tuplesOf = async <Tuple>(client: pg.PoolClient, query: Query): Promise<Tuple[]> =>
  (await run(client, query, 'array')).rows

// Runs work on a connection to a primary. Everything that comes here may safely run twice: work that was
// cut off either left nothing or finds its own rows again, so a lost connection is simply tried anew.
async function withPrimary<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    let client: pg.PoolClient | undefined
    let lost = false
    try {
      client = await pool.connect()
      return await work(client)
    } catch (error) {
      if (isLocked(error)) throw new Locked(error)
      lost = isLost(error)
      if (!lost && (!isSerialization(error) || tries === serializationTries)) throw error
      if (lost && performance.now() - started > patienceMs) throw new Unavailable(error)
    } finally {
      client?.release(lost) // true: this connection is not used again
    }
    if (lost) await new Promise(done => setTimeout(done, retryPauseMs))
  }
}

async function inTransaction<T>(client: pg.PoolClient, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx: Tx = {
    rows: query => rowsOf(client, query),
    one: async <Row>(query: Query) => (await rowsOf<Row>(client, query))[0],
    count: query => countOf(client, query),
    tuples: query => tuplesOf(client, query),
  }
  await client.query('begin')
  try {
    const result = await work(tx)
    await client.query('commit')
    return result
  } catch (error) {
    if (!isLost(error)) await client.query('rollback')
    throw error
  }
}

const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code ?? ''

const isLocked = (error: unknown) => codeOf(error) === '55P03'
const isSerialization = (error: unknown) => ['40001', '40P01'].includes(codeOf(error))
// Somebody else made it first: the row, the table (42P07) or the table's type (42710).
export const isAlreadyThere = (error: unknown) => ['23505', '42P07', '42710'].includes(codeOf(error))

// The server went away, is not ready, is no primary (25006), is out of disk, memory or connections (53, 58),
// ended a transaction that stood still (25P03), gave up on the statement (57) or never answered.
function isLost(error: unknown) {
  const code = codeOf(error)
  if (/^(08|53|57|58|25006|25P03|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)/.test(code))
    return true
  const message = error instanceof Error ? error.message : ''
  // Another node has changed a table under the plans of this connection.
  if (code === '0A000' && message.startsWith('cached plan')) return true
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i.test(
    message,
  )
}

// postgres://user@a:5432,b:5433/db names several hosts, as libpq does; one URL for each comes back.
export function hostsOf(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(url)
  if (!match) return [url]
  const [, before, hosts = '', after] = match
  return hosts.split(',').map(host => `${before}${host}${after}`)
}
