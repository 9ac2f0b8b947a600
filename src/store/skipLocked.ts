import { Locked } from '../core/refusal.ts'
import { type Db, sql, type Tx } from './db.ts'

const waitForAllMs = 100
const waitForOneMs = 20 // whatever was held for a moment only has had its time by then

// Taking many rows without waiting for those that somebody else holds: a node that stands still with a row in its hands
// keeps nobody from the others. What is held is left out, and found again by a later look.
export type Taking<Key, Taken> = {
  skipping(db: Db): Promise<Taken[]> // all that nobody holds, by `skip locked`
  find(db: Db): Promise<readonly Key[]> // where that is refused: what there is to take,
  waiting(tx: Tx, keys: readonly Key[]): Promise<Taken[]> // and these of it, in a transaction that waits briefly
}

const refusing = new WeakSet<Db>() // databases that do not skip across merchants, such as sharded ones

export async function takeUnlocked<Key, Taken>(db: Db, taking: Taking<Key, Taken>): Promise<Taken[]> {
  if (!refusing.has(db))
    try {
      return await taking.skipping(db)
    } catch (error) {
      if (!isUnsupported(error)) throw error
      refusing.add(db)
    }
  const keys = await taking.find(db)
  if (keys.length === 0) return []
  const all = await briefly(db, waitForAllMs, tx => taking.waiting(tx, keys))
  return all ?? oneByOne(db, keys, taking)
}

async function oneByOne<Key, Taken>(db: Db, keys: readonly Key[], { waiting }: Taking<Key, Taken>) {
  const taken: Taken[] = []
  for (const key of keys) taken.push(...((await briefly(db, waitForOneMs, tx => waiting(tx, [key]))) ?? []))
  return taken
}

// Undefined when something that it needs is held for longer.
async function briefly<T>(db: Db, ms: number, work: (tx: Tx) => Promise<T>): Promise<T | undefined> {
  try {
    return await db.transaction(async tx => {
      // A coordinator tells its workers, who are the ones that wait; to any other server these are just words.
      await tx.rows(sql`set local citus.propagate_set_commands to 'local'`)
      await tx.rows(ms === waitForAllMs ? setWaitForAll : setWaitForOne)
      return work(tx)
    })
  } catch (error) {
    if (error instanceof Locked) return undefined
    throw error
  }
}

// A setting takes no parameters.
const setWaitForAll = sql([`set local lock_timeout to ${waitForAllMs}`])
const setWaitForOne = sql([`set local lock_timeout to ${waitForOneMs}`])

const isUnsupported = (error: unknown) => (error as { code?: string } | undefined)?.code === '0A000'
