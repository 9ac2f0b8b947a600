import { type Backlogs, readBacklogs } from '../../store/backlogs.ts'
import type { Db } from '../../store/db.ts'

const dayMs = 24 * 3_600_000
const overdueMs = 60_000 // workers look every second; until then a payment is not late
const redactOverdueMs = 2 * 3_600_000 // they look every hour

// What the workers should have done by now, for the metrics.
export const backlogs = (db: Db, now: Date, redactDays: number | undefined): Promise<Backlogs> => {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const redactBefore = redactDays ? ago(redactDays * dayMs + redactOverdueMs) : undefined
  return readBacklogs(db, now, { expiredBefore: ago(overdueMs), redactBefore })
}
