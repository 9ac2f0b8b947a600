import type { Writable } from 'node:stream'
import pg from 'pg'
import { oldPrimaryError, type Timelines, timelineColumn } from './timelines.ts'

const connectTimeoutMs = 3000
const queryTimeoutMs = 8000
const lockTimeoutMs = 1000 // a customer's browser waits for it; workers skip locked rows
const idleInTransactionMs = 5000 // a node that is paused within a transaction holds its locks no longer
const connectionLifeSeconds = 300 // so that connections return to a host that has recovered

export function openPool(
  hosts: readonly string[],
  poolSize: number,
  applicationName: string,
  timelines: Timelines,
) {
  let next = 0
  // With several hosts, each new connection tries the next one until it finds the primary.
  class NextHostClient extends pg.Client {
    constructor(options: pg.ClientConfig) {
      super({ ...options, connectionString: hosts[next++ % hosts.length] })
    }
  }
  const pool = new pg.Pool({
    Client: NextHostClient as unknown as new () => pg.ClientBase, // the pool calls it with its options
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    statement_timeout: queryTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    maxLifetimeSeconds: connectionLifeSeconds,
    keepAlive: true,
    pipeline: true, // statements that are sent together need one round trip
    application_name: applicationName,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, despite its types
    onConnect: client => prepareSession(client, timelines),
  })
  // The pool replaces an idle connection that fails. Without a handler the error would end the process.
  pool.on('error', () => {})
  return pool
}

// The planner settings of a session, or of one transaction in it.
export type Plans = { areNamed: boolean; isLocal: boolean }

type Session = pg.ClientBase & { plans?: Plans; timeline?: number | null }

async function prepareSession(client: Session, timelines: Timelines) {
  client.on('error', () => {}) // the statement that was running rejects with it
  await timelines.firstProbe
  const { rows } = await client.query(
    `select pg_is_in_recovery() as standby, ${timelineColumn},
      exists (select from pg_extension where extname = 'citus') as sharded`,
  )
  // A sharded server needs the values to find the shard, so there the planner chooses.
  if (!rows[0].sharded) client.plans = { areNamed: false, isLocal: false }
  if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
  client.timeline = rows[0].timeline
  if (!timelines.accept(rows[0].timeline)) throw oldPrimaryError()
}

// A connection that was made before the failover may lead to the old primary.
export function refuseOldPrimary(client: Session, timelines: Timelines) {
  if (!timelines.accept(client.timeline ?? null)) throw oldPrimaryError()
}

export const plansOf = (client: Session) => client.plans

// SET LOCAL ends with the transaction.
export const plansOfTransaction = (plans: Plans | undefined): Plans | undefined =>
  plans && { ...plans, isLocal: true }

// Named statements find their rows by lists of keys. PostgreSQL would plan each list anew, which takes longer than its
// execution; or it would choose a sequential scan while a table is small, and keep that plan when the table has grown. So
// named statements get one generic plan that uses the indexes. Other statements are planned for their values.
const plannerSettings = {
  named: {
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
  },
  unnamed: {
    plan_cache_mode: 'auto',
    enable_seqscan: 'on',
    enable_bitmapscan: 'on',
    enable_hashjoin: 'on',
    enable_mergejoin: 'on',
  },
}

// The SET statements to send before a statement. Undefined if the session has these settings: mostly a statement is of
// the same kind as the one before it.
export function planSettings(plans: Plans | undefined, isNamed: boolean): string | undefined {
  if (!plans || plans.areNamed === isNamed) return undefined
  plans.areNamed = isNamed
  const set = plans.isLocal ? 'set local' : 'set'
  const settings = Object.entries(plannerSettings[isNamed ? 'named' : 'unnamed'])
  return settings.map(([name, value]) => `${set} ${name} = ${value}`).join('; ')
}

// Sends the statements of one turn of the event loop by one system call.
export function batchWrites(client: pg.ClientBase) {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

// A connection that is made after the deadline goes back to the pool.
export function connectWithin(pool: pg.Pool, deadline: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(
      () => {
        isOver = true
        reject(new Error('timeout exceeded when trying to connect'))
      },
      Math.max(1, deadline - performance.now()),
    )
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
