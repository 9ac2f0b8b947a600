import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { type Health, watchHealth } from './connections/health.ts'
import { hostsOf, isSilent } from './connections/hosts.ts'
import { plansOfTransaction, sayWhichPlan } from './connections/plans.ts'
import { gather, openPool } from './connections/pool.ts'
import { type Connection, type Limits, withPrimary } from './connections/primary.ts'
import { createConnectionQuota, type ConnectionQuota } from './connections/connectionQuota.ts'
import { isInFailedTransaction, isLost } from './databaseErrors.ts'

export { sql }

// int8 arrives as bigint: it holds money.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

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
  // What a transaction writes last leaves with the commit, in one way to the server: nobody may wait for it before.
  writeWithCommit<Row>(query: Query): Promise<Row[]>
}
export type Db = Tx & {
  url: string // for whoever needs a connection of its own
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  withQuota(verb: string): Db // the same, for one verb: it may have half of the connections at once
  until(deadline: number): Db // the same, for one request: up to a moment of the monotonic clock
  isHanging(): boolean // nobody is answered: whoever asks is told at once
  stats(): { total: number; idle: number; waiting: number }
  end(): Promise<void>
}

type Server = { url: string; pool: pg.Pool; health: Health; quotaFor(verb: string): ConnectionQuota }

export function openDb(url: string, poolSize: number, applicationName = 'tollgate'): Db {
  const hosts = hostsOf(url)
  const pool = openPool(hosts, poolSize, applicationName)
  const shares = new Map<string, ConnectionQuota>()
  const shareOf = (verb: string) => {
    const share = shares.get(verb) ?? createConnectionQuota(Math.max(1, Math.floor(poolSize / 2)))
    shares.set(verb, share)
    return share
  }
  return limited({ url, pool, health: watchHealth(() => isSilent(hosts)), quotaFor: shareOf }, {})
}

function limited(server: Server, limits: Limits): Db {
  const work = <T>(on: (connection: Connection) => Promise<T>) => withPrimary(server, limits, on)
  const db: Db = {
    url: server.url,
    rows: query => work(connection => rowsOf(connection, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => work(connection => countOf(connection, query)),
    tuples: query => work(connection => tuplesOf(connection, query)),
    writeWithCommit: query => db.rows(query),
    transaction: steps => work(connection => inTransaction(connection, steps)),
    withQuota: verb => limited(server, { ...limits, share: server.quotaFor(verb) }),
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

function send({ client, until }: Connection, { text, values, name }: Query, rowMode?: 'array') {
  gather(client)
  return client.query({
    text,
    values,
    name,
    rowMode,
    query_timeout: until === undefined ? undefined : leftOf(until),
  } as pg.QueryConfig)
}

// The answer to the last statement, once all are answered. Throws the error of the statement that was sent first: those
// behind it may have failed because of it.
async function lastAnswer<Answer>(earlier: readonly Promise<unknown>[], last: Promise<Answer>) {
  const answers = await Promise.allSettled([...earlier, last])
  const failed = answers.find(answer => answer.status === 'rejected')
  if (failed) throw failed.reason
  return last
}

async function run(connection: Connection, query: Query, rowMode?: 'array') {
  const { plans } = connection
  const isNamed = query.name !== undefined
  const settings = sayWhichPlan(plans, isNamed)
  if (!settings) return send(connection, query, rowMode)
  const set = send(connection, sql([settings])).catch((error: unknown) => {
    if (plans) plans.areNamed = !isNamed // nothing of it holds
    throw error
  })
  return lastAnswer([set], send(connection, query, rowMode))
}

const rowsOf = async <Row>(connection: Connection, query: Query): Promise<Row[]> =>
  (await run(connection, query)).rows
const countOf = async (connection: Connection, query: Query) => (await run(connection, query)).rowCount ?? 0
const tuplesOf = async <Tuple>(connection: Connection, query: Query): Promise<Tuple[]> =>
  (await run(connection, query, 'array')).rows

// The session is not in the state that a transaction needs. The work runs again on another connection.
const brokenSession = (message: string, code: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code })

// Two round trips are saved: the first statement is sent with `begin`, and what is written last with `commit`. So each
// answer is checked later than usual. The answer to `begin` is checked with the first statement, and again before anything
// is written with the commit; `commit` has to be answered by its own tag, because PostgreSQL answers ROLLBACK where the
// transaction has failed. Statements behind a failed one say only that the transaction has failed: `cause` is the error
// that is reported instead, and that decides whether the work runs again.
async function inTransaction<T>(session: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = { ...session, plans: plansOfTransaction(session.plans) }
  const last: (() => Promise<unknown>)[] = []
  let isBegun = false // `begin` was answered
  let cause: unknown
  const rootOf = (error: unknown) => (isInFailedTransaction(error) ? (cause ?? error) : error)

  async function checked<Answer>(statement: Promise<Answer>): Promise<Answer> {
    try {
      if (isBegun) return await statement
      const answer = await lastAnswer([begun], statement)
      isBegun = true
      return answer
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
      const answer = new Promise<Row[]>((resolve, reject) => {
        last.push(async () => {
          const written = rows<Row>(query)
          written.then(resolve, reject)
          await written
        })
      })
      answer.catch(() => {}) // the commit fails with the same error
      return answer
    },
  }

  async function commit() {
    await begun
    const status = connection.client.getTransactionStatus()
    if (status === 'E' && cause !== undefined) throw cause
    if (status !== 'T') throw brokenSession('there is no open transaction', '25P01')
    const writes = last.map(write => write())
    const { command } = await lastAnswer(writes, send(connection, sql`commit`))
    if (command !== 'COMMIT') throw cause ?? brokenSession(`commit was answered by ${command}`, '25P02')
  }

  const begun = send(connection, sql`begin`)
  begun.catch(() => {}) // every statement and the commit throw it
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
