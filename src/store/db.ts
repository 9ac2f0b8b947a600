import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { inDatabaseSpan } from '../core/traces.ts'
import { type Health, watchHealth } from './connections/health.ts'
import { hostsOf, isSilent } from './connections/hosts.ts'
import { batchWrites, beginOf, openPool, planSettings, plansOfTransaction } from './connections/pool.ts'
import {
  type Connection,
  type ConnectionQuota,
  createConnectionQuota,
  type Limits,
  withPrimary,
} from './connections/primary.ts'
import { type ServerChanges, watchServerChanges } from './connections/serverChanges.ts'
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
  locks: { strategy: LockStrategy } // of the database
}

// A connection pool to the primary. Every method retries after a lost connection, so all work may run twice.
export type Db = Tx & {
  url: string // of the pool
  sessionUrl: string // for a connection that needs a session of its own: the same database, without a pooler if one is set
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  withQuota(kind: string): Db // the same pool; all work of one kind may use a share of the connections at the same time
  withDeadline(deadline: number): Db // the same pool; all work ends at this time of performance.now()
  isHanging(): boolean // the database accepts connections and does not answer: statements fail immediately
  onServerChange(listener: () => void): void // a new connection leads to another server: see serverChanges.ts
  isPooled(): boolean // behind a pooler, an open connection may lead to another server, too
  acceptsTimeline: Timelines['accept'] // of a primary that is reached outside of the pool
  oldPrimaries(): readonly string[] // hosts that are refused because another one has a higher timeline
  stats(): { total: number; idle: number; waiting: number }
  workByKind(): ReadonlyMap<string, DatabaseWork> // since the start, by the kind of `withQuota`
  end(): Promise<void>
}

// How rows that may be locked are taken from this database: see skipLocked.ts.
export type LockStrategy =
  | { state: 'untested' }
  | { state: 'optimistic' }
  | { state: 'skipping'; until: number }
  | { state: 'unsupported' }

// Statements and transactions of one kind of work. The time includes the wait for a connection and repetitions.
export type DatabaseWork = { done: number; failed: number; seconds: number; inUse: number }

type Server = Pick<Db, 'url' | 'sessionUrl' | 'locks'> & {
  worked: Map<string, DatabaseWork>
  pool: pg.Pool
  health: Health
  timelines: Timelines
  serverChanges: ServerChanges
  quotaFor(kind: string): ConnectionQuota
}

// Of the connections, if it is not half. The dashboard and its sign-in together leave half of them to payments.
// Its pages read what people choose, so its statements have a shorter limit than those of payments.
const ownQuotas: Readonly<Record<string, { share: number; statementMs?: number }>> = {
  dashboard: { share: 3 / 10, statementMs: 5000 },
  sign_in: { share: 2 / 10 },
  traces: { share: 1 / 10 },
}
const usualQuota = { share: 1 / 2, statementMs: undefined }

export function openDb(url: string, poolSize: number, applicationName = 'tollgate', sessionUrl = url): Db {
  const hosts = hostsOf(url)
  const quotas = new Map<string, ConnectionQuota>()
  const quotaFor = (kind: string) => {
    const { share, statementMs } = ownQuotas[kind] ?? usualQuota
    const most = Math.max(1, Math.floor(poolSize * share))
    const quota = quotas.get(kind) ?? createConnectionQuota(most, statementMs)
    quotas.set(kind, quota)
    return quota
  }
  const timelines = watchTimelines(hosts)
  const serverChanges = watchServerChanges()
  const server: Server = {
    url,
    sessionUrl,
    timelines,
    serverChanges,
    pool: openPool(hosts, poolSize, applicationName, timelines, serverChanges),
    health: watchHealth(() => isSilent(hosts)),
    quotaFor,
    locks: { strategy: { state: 'untested' } },
    worked: new Map(),
  }
  return withLimits(server, {}, requestWork)
}

// The kind of everything without a quota.
export const requestWork = 'requests'

const nameOf = (query: Query) => query.name ?? 'statement'

function withLimits(server: Server, limits: Limits, kind: string): Db {
  const work = <T>(name: string, on: (connection: Connection) => Promise<T>) =>
    inDatabaseSpan(name, kind, () => measured(workOf(server, kind), () => withPrimary(server, limits, on)))
  const db: Db = {
    url: server.url,
    sessionUrl: server.sessionUrl,
    locks: server.locks,
    rows: query => work(nameOf(query), connection => rowsOf(connection, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => work(nameOf(query), connection => countOf(connection, query)),
    tuples: query => work(nameOf(query), connection => tuplesOf(connection, query)),
    writeWithCommit: query => db.rows(query),
    transaction: steps => work('transaction', connection => inTransaction(connection, server.locks, steps)),
    withQuota: other => withLimits(server, { ...limits, quota: server.quotaFor(other) }, other),
    withDeadline: deadline => withLimits(server, { ...limits, deadline }, kind),
    workByKind: () => server.worked,
    isHanging: server.health.isHanging,
    onServerChange: server.serverChanges.onChange,
    isPooled: server.serverChanges.isPooled,
    acceptsTimeline: server.timelines.accept,
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

function workOf({ worked }: Server, kind: string): DatabaseWork {
  const known = worked.get(kind)
  if (known) return known
  const made = { done: 0, failed: 0, seconds: 0, inUse: 0 }
  worked.set(kind, made)
  return made
}

async function measured<T>(work: DatabaseWork, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  work.inUse++
  try {
    return await run()
  } catch (error) {
    work.failed++
    throw error
  } finally {
    work.inUse--
    work.done++
    work.seconds += (performance.now() - startedAt) / 1000
  }
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

type RowMode = 'array' | undefined

async function runInSession(connection: Connection, query: Query, rowMode?: RowMode) {
  const { plans } = connection
  const isNamed = query.name !== undefined
  // A SET is not planned, and SET TRANSACTION has to be the first statement of its transaction.
  const settings = query.text.startsWith('set ') ? undefined : planSettings(plans, isNamed)
  if (!settings) return send(connection, query, rowMode)
  const set = send(connection, sql([settings])).catch((error: unknown) => {
    if (plans) plans.areNamed = !isNamed // the settings were not changed
    throw error
  })
  return lastResult([set], send(connection, query, rowMode))
}

// One statement behind a pooler is a transaction of its own, for its settings. It still needs one round trip.
async function runInOwnTransaction(session: Connection, query: Query, rowMode?: RowMode) {
  const connection = withinTransaction(session)
  const begun = send(connection, sql([beginOf(connection.client, connection.statementMs)]))
  const result = runInSession(connection, query, rowMode)
  const { command } = await lastResult([begun, result], send(connection, sql`commit`))
  if (command !== 'COMMIT') throw brokenSession(`COMMIT returned ${command}`, '25P02')
  return result
}

const withinTransaction = (session: Connection): Connection => ({
  ...session,
  plans: plansOfTransaction(session.plans),
  needsTransaction: false,
})

const run = (connection: Connection, query: Query, rowMode?: RowMode) =>
  connection.needsTransaction
    ? runInOwnTransaction(connection, query, rowMode)
    : runInSession(connection, query, rowMode)

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
async function inTransaction<T>(
  session: Connection,
  locks: Tx['locks'],
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const connection = withinTransaction(session)
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
    locks,
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

  const begun = send(connection, sql([beginOf(connection.client, connection.statementMs)]))
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
