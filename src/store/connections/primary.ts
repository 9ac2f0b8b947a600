import type pg from 'pg'
import { Locked, ShardUnavailable, Unavailable } from '../../core/interface/refusal.ts'
import { isCancelled, isLocked, isLost, isSerialization, isShardLost } from '../databaseErrors.ts'
import type { Health } from './health.ts'
import { connectWithin, isPooled, type Plans, plansOf, refuseOldPrimary } from './pool.ts'
import type { Timelines } from './timelines.ts'

const maxRetryMs = 4500 // how long a caller waits for a primary to come back
const retryPauseMs = 50
const serializationTries = 5
const shardTries = 2 // the coordinator notices by an error that a worker has restarted

export type Limits = { quota?: ConnectionQuota; deadline?: number }
export type Connection = {
  client: pg.PoolClient
  plans?: Plans
  deadline?: number
  statementMs?: number // the longest that a statement may take; undefined: as for the session
  needsTransaction: boolean // also for a single statement, because of its settings
}

// Runs work on a connection to the primary. After a lost connection the work is retried on another one, so it must be
// safe to run twice: work that was interrupted either changed nothing or finds its own rows.
export async function withPrimary<T>(
  server: { pool: pg.Pool; health: Health; timelines: Timelines },
  { quota, deadline }: Limits,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const lastRetry = Math.min(deadline ?? Infinity, performance.now() + maxRetryMs)
  if (quota) await quota.acquire(lastRetry)
  try {
    for (let tries = 1; ; tries++) {
      if (server.health.isHanging()) throw new Unavailable('the database does not answer')
      const { done, error } = await tryOnce(server, { quota, deadline }, work)
      if (done) return done.result
      if (isLocked(error)) throw new Locked(error)
      if (quota?.statementMs !== undefined && isCancelled(error)) throw new Unavailable(error)
      if (isShardLost(error)) {
        if (tries < shardTries) continue
        throw new ShardUnavailable(error)
      }
      const lost = isLost(error)
      if (!lost && (!isSerialization(error) || tries === serializationTries)) throw error
      if (lost && performance.now() + retryPauseMs > lastRetry) throw new Unavailable(error)
      if (lost) await new Promise(go => setTimeout(go, retryPauseMs))
    }
  } finally {
    quota?.release()
  }
}

type TryResult<T> = { done: { result: T }; error?: undefined } | { done?: undefined; error: unknown }

async function tryOnce<T>(
  { pool, health, timelines }: { pool: pg.Pool; health: Health; timelines: Timelines },
  { quota, deadline }: Limits,
  work: (connection: Connection) => Promise<T>,
): Promise<TryResult<T>> {
  let client: pg.PoolClient | undefined
  let lost = false
  health.begin()
  try {
    client = await (deadline === undefined ? pool.connect() : connectWithin(pool, deadline))
    refuseOldPrimary(client, timelines)
    const { statementMs } = quota ?? {}
    const needsTransaction = isPooled(client) || statementMs !== undefined
    const connection = { client, plans: plansOf(client), deadline, statementMs, needsTransaction }
    return { done: { result: await work(connection) } }
  } catch (error) {
    lost = isLost(error)
    return { error }
  } finally {
    health.end(!lost)
    client?.release(lost) // true: the pool closes this connection
  }
}

// A semaphore: how many connections one kind of work may use at the same time. If all of them wait for a lock, other work
// still finds free connections in the pool. With `statementMs`, a statement that takes longer is cancelled by the server and
// not repeated.
export type ConnectionQuota = {
  statementMs?: number
  acquire(deadline: number): Promise<void>
  release(): void
}

type Waiting = { resolve(): void; timer: NodeJS.Timeout }

export function createConnectionQuota(max: number, statementMs?: number): ConnectionQuota {
  let inUse = 0
  const queue = new Set<Waiting>()

  function acquire(deadline: number): Promise<void> {
    if (inUse < max) {
      inUse++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve,
        timer: setTimeout(() => {
          queue.delete(waiting)
          reject(new Unavailable('the connection quota of this work is used up'))
        }, deadline - performance.now()),
      }
      queue.add(waiting)
    })
  }

  // Passes the connection on to the caller that has waited longest.
  function release() {
    const [next] = queue
    if (!next) {
      inUse--
      return
    }
    queue.delete(next)
    clearTimeout(next.timer)
    next.resolve()
  }

  return { statementMs, acquire, release }
}
