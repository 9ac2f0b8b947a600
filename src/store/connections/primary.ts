import type pg from 'pg'
import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import { isLocked, isLost, isSerialization } from '../databaseErrors.ts'
import type { Health } from './health.ts'
import { type Plans, plansOf } from './plans.ts'
import { connectUntil } from './pool.ts'
import type { ConnectionQuota } from './connectionQuota.ts'

const patienceMs = 5000 // how long a caller waits for a primary to come back
const retryPauseMs = 50
const serializationTries = 5

export type Limits = { share?: ConnectionQuota; until?: number }
export type Connection = { client: pg.PoolClient; plans?: Plans; until?: number }

// Runs work on a connection to a primary. Everything that comes here may safely run twice: work that was
// cut off either left nothing or finds its own rows again, so a lost connection is simply tried anew.
export async function withPrimary<T>(
  { pool, health }: { pool: pg.Pool; health: Health },
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
      if (lost && performance.now() + retryPauseMs > deadline) throw new Unavailable(error)
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
    return { done: { result: await work({ client, plans: plansOf(client), until }) } }
  } catch (error) {
    lost = isLost(error)
    return { error }
  } finally {
    health.end(!lost)
    client?.release(lost) // true: this connection is not used again
  }
}
