import { firstEstimate, type Measurement, timeBy } from '../core/databaseClock.ts'
import { readDatabaseMs } from '../store/databaseTime.ts'
import type { Db } from '../store/db.ts'

// One look at the database's clock. In a transaction, so that the time spent waiting for a connection is no part of it.
export const measureClock = (db: Db): Promise<Measurement> =>
  db.transaction(async tx => {
    const asked = performance.now()
    const databaseMs = await readDatabaseMs(tx)
    const answered = performance.now()
    return { databaseMs, monotonicMs: (asked + answered) / 2, roundTripMs: answered - asked }
  })

// The first on a connection takes longer than the others.
export async function measureFirst(db: Db) {
  return firstEstimate([await measureClock(db), await measureClock(db), await measureClock(db)])
}

// For work that is soon over: measured once.
export async function readClock(db: Db): Promise<() => Date> {
  const reckoning = await measureFirst(db)
  return () => timeBy(reckoning, performance.now())
}
