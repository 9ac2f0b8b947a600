import { Locked, ShardUnavailable } from '../core/interface/refusal.ts'
import { isUnsupported } from './databaseErrors.ts'
import { type Db, type LockStrategy, sql, type Tx } from './db.ts'

// Takes many rows without waiting for rows that another transaction has locked, such as the transaction of a paused node.
// Locked rows are left out, and a later poll finds them again. There are three methods, from fast to slow:
//
// 1. Locking each row first costs 20 %. So we first try a plain UPDATE with a 50 ms lock_timeout, and use SKIP LOCKED for
//    5 s after a conflict. Only statements that run for thousands of rows a second have this variant (`optimistic`).
// 2. SKIP LOCKED: the statement locks the rows that are free, then changes them.
// 3. A sharded PostgreSQL (Citus) refuses SKIP LOCKED across shards. There the keys are read without locks, and changed
//    with a lock_timeout of 100 ms; if that runs out, each row is changed by itself with 20 ms. So it is if a worker is
//    gone: its rows are left out.
//
// The LockStrategy of the database is the state that selects the method:
//
//   untested --SKIP LOCKED works--> optimistic --conflict--> skipping for 5 s --time is over--> optimistic
//   any state --SKIP LOCKED is refused--> unsupported (permanently)

// A sharded database is noticed by the first search for due work, which is refused.
export const isSharded = ({ locks }: Tx) => locks.strategy.state === 'unsupported'

const allRowsTimeoutMs = 100
const oneRowTimeoutMs = 20 // short, because the try before has waited already
const optimisticTimeoutMs = 50
const skipAfterConflictMs = 5000 // the server ends a transaction of a paused node after this time

// The variants of one change.
export type TakeStatements<Key, Taken> = {
  skipping(db: Db): Promise<readonly Taken[]> // takes all rows that are not locked, by SKIP LOCKED
  find(db: Db): Promise<readonly Key[]> // the rows to take, without locking them
  waiting(tx: Tx, keys: readonly Key[]): Promise<readonly Taken[]> // takes these, in a transaction with a short lock_timeout
}

// `optimistic` is one statement that contains `shortLockTimeout`.
type OptimisticStatements<Key, Taken> = TakeStatements<Key, Taken> & {
  optimistic(tx: Tx): Promise<readonly Taken[]>
}

export async function takeOptimistically<Key, Taken>(
  db: Db,
  statements: OptimisticStatements<Key, Taken>,
): Promise<readonly Taken[]> {
  const { locks } = db
  if (isOptimistic(locks.strategy, performance.now()))
    try {
      return await statements.optimistic(db)
    } catch (error) {
      if (!(error instanceof Locked)) throw error
      locks.strategy = afterConflict(performance.now())
    }
  return takeUnlocked(db, statements)
}

export async function takeUnlocked<Key, Taken>(
  db: Db,
  statements: TakeStatements<Key, Taken>,
): Promise<readonly Taken[]> {
  const { locks } = db
  if (!isSharded(db))
    try {
      const taken = await statements.skipping(db)
      locks.strategy = afterSkipping(locks.strategy)
      return taken
    } catch (error) {
      if (!isUnsupported(error)) throw error
      locks.strategy = { state: 'unsupported' }
    }
  return takeWaiting(db, statements)
}

const isOptimistic = (strategy: LockStrategy, now: number) =>
  strategy.state === 'optimistic' || (strategy.state === 'skipping' && now > strategy.until)

const afterConflict = (now: number): LockStrategy => ({ state: 'skipping', until: now + skipAfterConflictMs })

const afterSkipping = (strategy: LockStrategy): LockStrategy =>
  strategy.state === 'untested' ? { state: 'optimistic' } : strategy

async function takeWaiting<Key, Taken>(db: Db, { find, waiting }: TakeStatements<Key, Taken>) {
  const keys = await find(db)
  if (keys.length === 0) return []
  const all = await withLockTimeout(db, allRowsTimeoutMs, tx => waiting(tx, keys))
  if (all) return all
  const taken: Taken[] = []
  for (const key of keys)
    taken.push(...((await withLockTimeout(db, oneRowTimeoutMs, tx => waiting(tx, [key]))) ?? []))
  return taken
}

// A FROM item of a statement. It takes effect before the first row is changed and costs no round trip.
export const shortLockTimeout = sql([
  `set_config('lock_timeout', '${optimisticTimeoutMs}', true) as short_lock_timeout,`,
])

// For the rest of this transaction. SET takes no parameters.
export const setShortLockTimeout = (tx: Tx, ms = allRowsTimeoutMs) =>
  tx.rows(sql([`set local lock_timeout to ${ms}`]))

// Undefined if a row that it needs stays locked, or its worker is gone.
async function withLockTimeout<T>(db: Db, ms: number, work: (tx: Tx) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async tx => {
      // A Citus coordinator passes the timeout on to its workers, which do the waiting. Other servers ignore this setting.
      await tx.rows(sql`set local citus.propagate_set_commands to 'local'`)
      await setShortLockTimeout(tx, ms)
      return work(tx)
    })
  } catch (error) {
    if (error instanceof Locked || error instanceof ShardUnavailable) return undefined
    throw error
  }
}
