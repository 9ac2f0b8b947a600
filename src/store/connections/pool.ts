import type { Writable } from 'node:stream'
import pg from 'pg'
import { HostClient } from './hostClient.ts'
import { announcedProcessId } from './pooler.ts'
import type { ServerChanges } from './serverChanges.ts'
import { oldPrimaryError, type Timelines, timelineColumn } from './timelines.ts'

const connectTimeoutMs = 3000
const queryTimeoutMs = 8000
const connectionLifeSeconds = 300 // so that connections return to a host that has recovered

// In milliseconds, enforced by the server. They are no startup parameters, because a pooler refuses or ignores those.
export const timeouts = {
  statement_timeout: queryTimeoutMs,
  lock_timeout: 1000, // a customer's browser waits for it; workers skip locked rows
  idle_in_transaction_session_timeout: 5000, // a node that is paused within a transaction holds its locks no longer
}

export function openPool(
  hosts: readonly string[],
  poolSize: number,
  applicationName: string,
  timelines: Timelines,
  serverChanges: ServerChanges,
) {
  let next = 0
  // With several hosts, each new connection tries the next one until it finds the primary.
  class NextHostClient extends HostClient {
    constructor(options: pg.ClientConfig) {
      super(hosts[next++ % hosts.length] as string, options)
    }
  }
  const pool = new pg.Pool({
    Client: NextHostClient as unknown as new () => pg.ClientBase, // the pool calls it with its options
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    maxLifetimeSeconds: connectionLifeSeconds,
    keepAlive: true,
    pipeline: true, // statements that are sent together need one round trip
    application_name: applicationName,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, despite its types
    onConnect: client => prepareSession(client, timelines, serverChanges),
  })
  // The pool replaces an idle connection that fails. Without a handler the error would end the process.
  pool.on('error', () => {})
  return pool
}

// The planner settings of a session, or of one transaction in it.
export type Plans = { areNamed: boolean; isLocal: boolean }

type Session = pg.ClientBase & { plans?: Plans; timeline?: number | null; isPooled?: boolean }

const setTimeouts = Object.entries(timeouts)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(' || ')

async function prepareSession(client: Session, timelines: Timelines, serverChanges: ServerChanges) {
  client.on('error', () => {}) // the statement that was running rejects with it
  await timelines.firstProbe
  const announced = announcedProcessId(client)
  const { rows } = await client.query(
    `select pg_is_in_recovery() as standby, ${timelineColumn}, pg_postmaster_start_time()::text as started,
      exists (select from pg_extension where extname = 'citus') as sharded,
      pg_backend_pid() as pid, case when pg_backend_pid() = ${announced ?? 0} then ${setTimeouts} end as timeouts`,
  )
  client.isPooled = rows[0].pid !== announced
  // A sharded server needs the values to find the shard, so there the planner chooses.
  if (!rows[0].sharded) client.plans = { areNamed: false, isLocal: false }
  if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
  client.timeline = rows[0].timeline
  if (!timelines.accept(rows[0].timeline)) throw oldPrimaryError()
  serverChanges.connected(`${rows[0].started} ${rows[0].timeline}`, isPooled(client))
}

// A connection that was made before the failover may lead to the old primary.
export function refuseOldPrimary(client: Session, timelines: Timelines) {
  if (!timelines.accept(client.timeline ?? null)) throw oldPrimaryError()
}

export const plansOf = (client: Session) => client.plans

// A pooler may give each transaction another session of the server, which other programs use before and after. So the
// timeouts and the planner settings are set for each transaction, in the message of BEGIN, and none for the session.
export const isPooled = (client: Session) => client.isPooled === true

const setLocalTimeouts = Object.entries(timeouts)
  .map(([name, value]) => `set local ${name} = ${value}`)
  .join('; ')

// `statementMs`: a shorter limit for the statements of some work.
export const beginOf = (client: Session, statementMs?: number) =>
  [
    'begin',
    ...(isPooled(client) ? [setLocalTimeouts] : []),
    ...(statementMs === undefined ? [] : [`set local statement_timeout = ${statementMs}`]),
  ].join('; ')

// SET LOCAL ends with the transaction.
export const plansOfTransaction = (plans: Plans | undefined): Plans | undefined =>
  plans && { ...plans, isLocal: true }

// Named statements find their rows by lists of keys. PostgreSQL would plan each list anew, which takes longer than its
// execution; or it would choose a sequential scan while a table is small, and keep that plan when the table has grown. So
// named statements get one generic plan that uses the indexes. Other statements are planned for their values.
const plannerSettings = {
  named: {
    plan_cache_mode: 'force_generic_plan',
    jit: 'off', // to compile a plan takes longer than to find some rows
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
  },
  unnamed: {
    plan_cache_mode: 'auto',
    jit: null, // the default
    enable_seqscan: 'on',
    enable_bitmapscan: 'on',
    enable_hashjoin: 'on',
    enable_mergejoin: 'on',
  },
}

// The statement to send before a statement of another kind. Undefined if the session has these settings: mostly a statement
// is of the same kind as the one before it. One SELECT instead of several SETs, because the server counts each of them.
export function planSettings(plans: Plans | undefined, isNamed: boolean): string | undefined {
  if (!plans || plans.areNamed === isNamed) return undefined
  plans.areNamed = isNamed
  return settingStatements[`${isNamed ? 'named' : 'unnamed'} ${plans.isLocal ? 'local' : 'session'}`]
}

const settingStatement = (settings: Readonly<Record<string, string | null>>, isLocal: boolean) =>
  `select ${Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', ${value === null ? 'null' : `'${value}'`}, ${isLocal})`)
    .join(', ')}`

const settingStatements = {
  'named session': settingStatement(plannerSettings.named, false),
  'named local': settingStatement(plannerSettings.named, true),
  'unnamed session': settingStatement(plannerSettings.unnamed, false),
  'unnamed local': settingStatement(plannerSettings.unnamed, true),
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
