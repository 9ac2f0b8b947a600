import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { Locked, Unavailable } from '../core/refusal.ts'
import { isLocked, isLost, isSerialization } from './databaseErrors.ts'
import { type Health, watchHealth } from './health.ts'
import { hostsOf, isSilent } from './hosts.ts'
import { createShare, type Share } from './share.ts'
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
  share(verb: string): Db // the same, for one verb: it may have half of the connections at once
  until(deadline: number): Db // the same, for one request: up to a moment of the monotonic clock
  isHanging(): boolean // nobody is answered: whoever asks is told at once
  stats(): { total: number; idle: number; waiting: number }
  end(): Promise<void>
}

type Server = { url: string; pool: pg.Pool; health: Health; shareOf(verb: string): Share }
type Limits = { share?: Share; until?: number }
type Connection = { client: pg.PoolClient; until?: number }

export function openDb(url: string, poolSize: number, applicationName = 'tollgate'): Db {
  const hosts = hostsOf(url)
  const pool = openPool(hosts, poolSize, applicationName)
  const shares = new Map<string, Share>()
  const shareOf = (verb: string) => {
    const share = shares.get(verb) ?? createShare(Math.max(1, Math.floor(poolSize / 2)))
    shares.set(verb, share)
    return share
  }
  return limited({ url, pool, health: watchHealth(() => isSilent(hosts)), shareOf }, {})
}

function openPool(hosts: readonly string[], poolSize: number, applicationName: string) {
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
  return pool
}

async function refuseStandby(client: pg.ClientBase) {
  client.on('error', () => {}) // told again by the statement that was running
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
}

function limited(server: Server, limits: Limits): Db {
  const work = <T>(on: (connection: Connection) => Promise<T>) => withPrimary(server, limits, on)
  const db: Db = {
    url: server.url,
    rows: query => work(connection => rowsOf(connection, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => work(connection => countOf(connection, query)),
    tuples: query => work(connection => tuplesOf(connection, query)),
    transaction: steps => work(connection => inTransaction(connection, steps)),
    share: verb => limited(server, { ...limits, share: server.shareOf(verb) }),
    until: deadline => limited(server, { ...limits, until: deadline }),
    isHanging: server.health.isHanging,
    stats() {
      const { totalCount, idleCount, waitingCount } = server.pool
      return { total: totalCount, idle: idleCount, waiting: waitingCount }
    },
    async end() {
      server.health.stop()
      await server.pool.end()
    },
  }
  return db
}

const leftOf = (until: number) => Math.max(1, until - performance.now())

const run = ({ client, until }: Connection, { text, values, name }: Query, rowMode?: 'array') =>
  client.query({
    text,
    values,
    name,
    rowMode,
    query_timeout: until === undefined ? undefined : leftOf(until),
  } as pg.QueryConfig)
const rowsOf = async <Row>(connection: Connection, query: Query): Promise<Row[]> =>
  (await run(connection, query)).rows
const countOf = async (connection: Connection, query: Query) => (await run(connection, query)).rowCount ?? 0
const tuplesOf = async <Tuple>(connection: Connection, query: Query): Promise<Tuple[]> =>
  (await run(connection, query, 'array')).rows

// Runs work on a connection to a primary. Everything that comes here may safely run twice: work that was
// cut off either left nothing or finds its own rows again, so a lost connection is simply tried anew.
async function withPrimary<T>(
  { pool, health }: Server,
  { share, until }: Limits,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const deadline = Math.min(until ?? Infinity, performance.now() + patienceMs)
  if (share) await share.enter(deadline)
  try {
    for (let tries = 1; ; tries++) {
      if (health.isHanging()) throw new Unavailable('the database does not answer')
      const { done, error } = await tryOnce(pool, health, until, work)
      if (done) return done.result
      if (isLocked(error)) throw new Locked(error)
      const lost = isLost(error)
      if (!lost && (!isSerialization(error) || tries === serializationTries)) throw error
      if (lost && performance.now() > deadline) throw new Unavailable(error)
      if (lost) await new Promise(go => setTimeout(go, retryPauseMs))
    }
  } finally {
    share?.leave()
  }
}

type Tried<T> = { done: { result: T }; error?: undefined } | { done?: undefined; error: unknown }

async function tryOnce<T>(
  pool: pg.Pool,
  health: Health,
  until: number | undefined,
  work: (connection: Connection) => Promise<T>,
): Promise<Tried<T>> {
  let client: pg.PoolClient | undefined
  let lost = false
  health.begin()
  try {
    client = await (until === undefined ? pool.connect() : connectUntil(pool, until))
    return { done: { result: await work({ client, until }) } }
  } catch (error) {
    lost = isLost(error)
    return { error }
  } finally {
    health.end(!lost)
    client?.release(lost) // true: this connection is not used again
  }
}

// A connection that comes too late goes back to the pool.
function connectUntil(pool: pg.Pool, until: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      reject(new Error('timeout exceeded when trying to connect'))
    }, leftOf(until))
    pool.connect().then(
      client => {
        clearTimeout(timer)
        if (isOver) client.release()
        else resolve(client)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}

async function inTransaction<T>(connection: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx: Tx = {
    rows: query => rowsOf(connection, query),
    one: async <Row>(query: Query) => (await rowsOf<Row>(connection, query))[0],
    count: query => countOf(connection, query),
    tuples: query => tuplesOf(connection, query),
  }
  await run(connection, sql`begin`)
  try {
    const result = await work(tx)
    await run(connection, sql`commit`)
    return result
  } catch (error) {
    if (!isLost(error)) await run(connection, sql`rollback`)
    throw error
  }
}
