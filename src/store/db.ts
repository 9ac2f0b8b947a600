import pg from 'pg'
import sql, { type Sql } from 'sql-template-tag'
import { type Health, watchHealth } from './connections/health.ts'
import { hostsOf, isSilent } from './connections/hosts.ts'
import { plansOfTransaction, sayWhichPlan } from './connections/plans.ts'
import { gather, openPool } from './connections/pool.ts'
import { type Connection, type Limits, withPrimary } from './connections/primary.ts'
import { createShare, type Share } from './connections/share.ts'
import { isLost } from './databaseErrors.ts'

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
  lastly<Row>(query: Query): Promise<Row[]>
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

function limited(server: Server, limits: Limits): Db {
  const work = <T>(on: (connection: Connection) => Promise<T>) => withPrimary(server, limits, on)
  const db: Db = {
    url: server.url,
    rows: query => work(connection => rowsOf(connection, query)),
    one: async <Row>(query: Query) => (await db.rows<Row>(query))[0],
    count: query => work(connection => countOf(connection, query)),
    tuples: query => work(connection => tuplesOf(connection, query)),
    lastly: query => db.rows(query),
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

function run(connection: Connection, query: Query, rowMode?: 'array') {
  const first = sayWhichPlan(connection.plans, query.name !== undefined)
  if (first) connection.client.query(first).catch(() => {}) // told again by the statement behind it
  return send(connection, query, rowMode)
}

const rowsOf = async <Row>(connection: Connection, query: Query): Promise<Row[]> =>
  (await run(connection, query)).rows
const countOf = async (connection: Connection, query: Query) => (await run(connection, query)).rowCount ?? 0
const tuplesOf = async <Tuple>(connection: Connection, query: Query): Promise<Tuple[]> =>
  (await run(connection, query, 'array')).rows

// Nobody waits for the answer to `begin`, nor for what is written last before the commit is sent: a statement that fails
// makes the server roll back instead.
async function inTransaction<T>(session: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = { ...session, plans: plansOfTransaction(session.plans) }
  const last: (() => Promise<unknown>)[] = []
  const tx: Tx = {
    rows: query => rowsOf(connection, query),
    one: async <Row>(query: Query) => (await rowsOf<Row>(connection, query))[0],
    count: query => countOf(connection, query),
    tuples: query => tuplesOf(connection, query),
    lastly<Row>(query: Query) {
      const answer = new Promise<Row[]>((resolve, reject) => {
        last.push(async () => {
          const rows = rowsOf<Row>(connection, query)
          rows.then(resolve, reject)
          await rows
        })
      })
      answer.catch(() => {}) // whoever waits for the commit is told
      return answer
    },
  }
  const begun = send(connection, sql`begin`)
  begun.catch(() => {}) // told again by the first statement
  try {
    const result = await work(tx)
    await Promise.all([...last.map(write => write()), send(connection, sql`commit`)])
    return result
  } catch (error) {
    if (!isLost(error)) await send(connection, sql`rollback`)
    throw error
  }
}
