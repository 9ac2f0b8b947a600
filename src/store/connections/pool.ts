import type { Writable } from 'node:stream'
import pg from 'pg'
import { watchPlans } from './plans.ts'

const connectTimeoutMs = 3000
const queryTimeoutMs = 8000
const lockTimeoutMs = 1000 // a browser waits for it; workers skip what is locked
const idleInTransactionMs = 5000 // a node that was paused in the middle of its work holds no row for longer
const connectionLifeSeconds = 300 // so that connections find their way back to a recovered host

export function openPool(hosts: readonly string[], poolSize: number, applicationName: string) {
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
    pipeline: true, // whoever asks for several things at once waits for one way to the server
    application_name: applicationName,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, its types do not know
    onConnect: meet,
  })
  // An idle connection that dies is the pool's to replace; without a handler it would end the process.
  pool.on('error', () => {})
  return pool
}

async function meet(client: pg.ClientBase) {
  client.on('error', () => {}) // told again by the statement that was running
  const { rows } = await client.query(
    `select pg_is_in_recovery() as standby, exists (select from pg_extension where extname = 'citus') as sharded`,
  )
  watchPlans(client, rows[0].sharded)
  if (rows[0].standby) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
}

// What is asked in one turn leaves by one write: each is a call of the system, and many ask at once.
export function gather(client: pg.ClientBase) {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

// A connection that comes too late goes back to the pool.
export function connectUntil(pool: pg.Pool, until: number): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const timer = setTimeout(
      () => {
        isOver = true
        reject(new Error('timeout exceeded when trying to connect'))
      },
      Math.max(1, until - performance.now()),
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
