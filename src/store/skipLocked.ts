import { Locked } from '../core/interface/refusal.ts'
import { type Db, sql, type Tx } from './db.ts'

const waitForAllMs = 100
const waitForOneMs = 20 // whatever was held for a moment only has had its time by then
const hopeMs = 50
const wiserMs = 5000 // as long as a node that stands still can hold anything

// Taking many rows without waiting for those that somebody else holds: a node that stands still with a row in its hands
// keeps nobody from the others. What is held is left out, and found again by a later look.
export type Taking<Key, Taken> = {
  skipping(db: Db): Promise<readonly Taken[]> // all that nobody holds, by `skip locked`
  find(db: Db): Promise<readonly Key[]> // where that is refused: what there is to take,
  waiting(tx: Tx, keys: readonly Key[]): Promise<readonly Taken[]> // and these of it, in a transaction that waits briefly
}

const skips = new WeakMap<Db, boolean>() // false: it does not skip across merchants, as sharded ones do not
const lastHeld = new WeakMap<Db, number>()

export async function takeUnlocked<Key, Taken>(
  db: Db,
  taking: Taking<Key, Taken>,
): Promise<readonly Taken[]> {
  if (skips.get(db) !== false)
    try {
      const taken = await taking.skipping(db)
      skips.set(db, true)
      return taken
    } catch (error) {
      if (!isUnsupported(error)) throw error
      skips.set(db, false)
    }
  const keys = await taking.find(db)
  if (keys.length === 0) return []
  const all = await briefly(db, waitForAllMs, tx => taking.waiting(tx, keys))
  return all ?? oneByOne(db, keys, taking)
}

// For what is taken by the thousand: to lock a row before it is changed costs a fifth more, and on most days nobody holds
// any. So it hopes, for a moment, by a statement that has `hope` in it; while something is held, it skips.
export async function takeOptimistically<Key, Taken>(
  db: Db,
  taking: Taking<Key, Taken> & { hoping(tx: Tx): Promise<readonly Taken[]> },
): Promise<readonly Taken[]> {
  if (skips.get(db) && performance.now() - (lastHeld.get(db) ?? -Infinity) > wiserMs)
    try {
      return await taking.hoping(db)
    } catch (error) {
      if (!(error instanceof Locked)) throw error
      lastHeld.set(db, performance.now())
    }
  return takeUnlocked(db, taking)
}

// Among what a statement reads from: it counts before the first row is changed, and costs no way to the server.
export const shortLockTimeout = sql([`set_config('lock_timeout', '${hopeMs}', true) as hope,`])

async function oneByOne<Key, Taken>(db: Db, keys: readonly Key[], { waiting }: Taking<Key, Taken>) {
  const taken: Taken[] = []
  for (const key of keys) taken.push(...((await briefly(db, waitForOneMs, tx => waiting(tx, [key]))) ?? []))
  return taken
}

// For all that follows in this transaction. A setting takes no parameters.
export const waitBriefly = (tx: Tx, ms = waitForAllMs) => tx.rows(sql([`set local lock_timeout to ${ms}`]))

// Undefined when something that it needs is held for longer.
async function briefly<T>(db: Db, ms: number, work: (tx: Tx) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async tx => {
      // A coordinator tells its workers, who are the ones that wait; to any other server these are just words.
      await tx.rows(sql`set local citus.propagate_set_commands to 'local'`)
      await waitBriefly(tx, ms)
      return work(tx)
    })
  } catch (error) {
    if (error instanceof Locked) return undefined
    throw error
  }
}

const isUnsupported = (error: unknown) => (error as { code?: string } | undefined)?.code === '0A000'
