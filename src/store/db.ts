import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { type Health, watchHealth } from './connections/health.ts'
import { hostsOf, isSilent } from './connections/hosts.ts'
import { batchWrites, openPool, planSettings, plansOfTransaction } from './connections/pool.ts'
import {
  type Connection,
  type ConnectionQuota,
  createConnectionQuota,
  type Limits,
  withPrimary,
} from './connections/primary.ts'
import { type Timelines, watchTimelines } from './connections/timelines.ts'
import { isInFailedTransaction, isLost } from './databaseErrors.ts'

export { sql }

// int8 is parsed as bigint: it holds money.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

export type Query = Sql & { name?: string }

// A prepared statement: PostgreSQL parses and plans it once per connection. For statements that find their rows by a key,
// because their plan stays right while the table grows.
export const named =
  (name: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Query =>
    Object.assign(sql(strings, ...values), { name })

export type Tx = {
  rows<Row>(query: Query): Promise<Row[]>
  one<Row>(query: Query): Promise<Row | undefined>
  count(query: Query): Promise<number> // of changed rows
  tuples<Tuple extends readonly unknown[]>(query: Query): Promise<Tuple[]> // rows as arrays: cheaper for very many
  // Sends the statement together with COMMIT, in one round trip. The work of the transaction must not await it: it is
  // sent when the work has returned.
  writeWithCommit<Row>(query: Query): Promise<Row[]>
}

// A connection pool to the primary. Every method retries after a lost connection, so all work may run twice.
export type Db = Tx & {
  url: string // for a connection outside of the pool
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  withQuota(kind: string): Db // the same pool; all work of one kind may use a share of the connections at the same time
  withDeadline(deadline: number): Db // the same pool; all work ends at this time of performance.now()
  isHanging(): boolean // the database accepts connections and does not answer: statements fail immediately
  oldPrimaries(): readonly string[] // hosts that are refused because another one has a higher timeline
  stats(): { total: number; idle: number; waiting: number }
  locks: { strategy: LockStrategy }
  end(): Promise<void>
}

// How rows that may be locked are taken from this database: see skipLocked.ts.
export type LockStrategy =
  | { state: 'untested' }
  | { state: 'optimistic' }
  | { state: 'skipping'; until: number }
  | { state: 'unsupported' }

type Server = Pick<Db, 'url' | 'locks'> & {
  pool: pg.Pool
  health: Health
  timelines: Timelines
  quotaFor(kind: string): ConnectionQuota
}

// Of the connections, if it is not half. The dashboard and its sign-in together leave half of them to payments.
const shares: Readonly<Record<string, number>> = { dashboard: 3 / 10, sign_in: 2 / 10 }

export function openDb(url: string, poolSize: number, applicationName = 'tollgate'): Db {
  const hosts = hostsOf(url)
  const quotas = new Map<string, ConnectionQuota>()
  const quotaFor = (kind: string) => {
    const most = Math.max(1, Math.floor(poolSize * (shares[kind] ?? 1 / 2)))
    const quota = quotas.get(kind) ?? createConnectionQuota(most)
    quotas.set(kind, quota)
    return quota
  }
  const timelines = watchTimelines(hosts)
  const server: Server = {
    url,
    timelines,
    pool: openPool(hosts, poolSize, applicationName, timelines),
    health: watchHealth(() => isSilent(hosts)),
    quotaFor,
    locks: { strategy: { state: 'untested' } },
  }
  return withLimits(server, {})
}

function withLimits(server: Server, limits: Limits): Db {
  const work = <T>(on: (connection: Connection) => Promise<T>) => withPrimary(server, limits, on)
  const db: Db = {
    url: server.url,
    locks: server.locks,
    rows: query => work(connection => rowsOf(connection, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => work(connection => countOf(connection, query)),
    tuples: query => work(connection => tuplesOf(connection, query)),
    writeWithCommit: query => db.rows(query),
    transaction: steps => work(connection => inTransaction(connection, steps)),
    withQuota: kind => withLimits(server, { ...limits, quota: server.quotaFor(kind) }),
    withDeadline: deadline => withLimits(server, { ...limits, deadline }),
    isHanging: server.health.isHanging,
    oldPrimaries: server.timelines.oldPrimaries,
    stats() {
      const { totalCount, idleCount, waitingCount } = server.pool
      // pg counts a caller until the next turn of the event loop, also if an idle connection is free for it: without this,
      // a scrape that has just sent its own queries would count them.
      return { total: totalCount, idle: idleCount, waiting: Math.max(0, waitingCount - idleCount) }
    },
    async end() {
      server.health.stop()
      server.timelines.stop()
      await server.pool.end()
    },
  }
  return db
}

function send({ client, deadline }: Connection, { text, values, name }: Query, rowMode?: 'array') {
  batchWrites(client)
  const query_timeout = deadline === undefined ? undefined : Math.max(1, deadline - performance.now())
  return client.query({ text, values, name, rowMode, query_timeout } as pg.QueryConfig)
}

// The result of the last statement, when all have ended. Throws the error of the earliest statement that failed: later
// ones may have failed because of it.
async function lastResult<Result>(earlier: readonly Promise<unknown>[], last: Promise<Result>) {
  const results = await Promise.allSettled([...earlier, last])
  const failed = results.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
  return last
}

async function run(connection: Connection, query: Query, rowMode?: 'array') {
  const { plans } = connection
  const isNamed = query.name !== undefined
  const settings = planSettings(plans, isNamed)
  if (!settings) return send(connection, query, rowMode)
  const set = send(connection, sql([settings])).catch((error: unknown) => {
    if (plans) plans.areNamed = !isNamed // the settings were not changed
    throw error
  })
  return lastResult([set], send(connection, query, rowMode))
}

const rowsOf = async <Row>(connection: Connection, query: Query): Promise<Row[]> =>
  (await run(connection, query)).rows
const countOf = async (connection: Connection, query: Query) => (await run(connection, query)).rowCount ?? 0
const tuplesOf = async <Tuple>(connection: Connection, query: Query): Promise<Tuple[]> =>
  (await run(connection, query, 'array')).rows

// The session is not in the state that a transaction needs. The work is retried on another connection.
const brokenSession = (message: string, code: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code })

// Saves two round trips: BEGIN is sent with the first statement, and the writes of writeWithCommit are sent with COMMIT.
// So results are checked later than usual. The result of BEGIN is checked with the first statement, and again before the
// writes of the commit are sent. COMMIT has to return its own tag, because PostgreSQL returns ROLLBACK if the transaction
// has failed. Statements after a failed one report only that the transaction has failed. `cause`, the first error, is
// thrown instead, and decides whether the work is retried.
async function inTransaction<T>(session: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = { ...session, plans: plansOfTransaction(session.plans) }
  const lastWrites: (() => Promise<unknown>)[] = []
  let isBegun = false // BEGIN has returned
  let cause: unknown
  const rootOf = (error: unknown) => (isInFailedTransaction(error) ? (cause ?? error) : error)

  async function checked<Result>(statement: Promise<Result>): Promise<Result> {
    try {
      if (isBegun) return await statement
      const result = await lastResult([begun], statement)
      isBegun = true
      return result
    } catch (error) {
      cause ??= error
      throw rootOf(error)
    }
  }

  const rows = <Row>(query: Query) => checked(rowsOf<Row>(connection, query))
  const tx: Tx = {
    rows,
    one: async <Row>(query: Query) => (await rows<Row>(query))[0],
    count: query => checked(countOf(connection, query)),
    tuples: query => checked(tuplesOf(connection, query)),
    writeWithCommit<Row>(query: Query) {
      const result = new Promise<Row[]>((resolve, reject) => {
        lastWrites.push(async () => {
          const written = rows<Row>(query)
          written.then(resolve, reject)
          await written
        })
      })
      result.catch(() => {}) // the commit fails with the same error
      return result
    },
  }

  async function commit() {
    await begun
    const status = connection.client.getTransactionStatus()
    if (status === 'E' && cause !== undefined) throw cause
    if (status !== 'T') throw brokenSession('there is no open transaction', '25P01')
    const writes = lastWrites.map(write => write())
    const { command } = await lastResult(writes, send(connection, sql`commit`))
    if (command !== 'COMMIT') throw cause ?? brokenSession(`COMMIT returned ${command}`, '25P02')
  }

  const begun = send(connection, sql`begin`)
  begun.catch(() => {}) // every statement and the commit throw its error
  try {
    const result = await work(tx)
    await commit()
    return result
  } catch (error) {
    const root = rootOf(error)
    if (!isLost(root)) await rollBack(connection, root)
    throw root
  }
}

// A session that cannot be rolled back is not used again.
async function rollBack(connection: Connection, cause: unknown) {
  try {
    await send(connection, sql`rollback`)
  } catch (error) {
    throw isLost(error) ? error : brokenSession('rollback failed', '25P02', cause)
  }
}
