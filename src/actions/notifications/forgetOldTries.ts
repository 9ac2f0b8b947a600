import type { Db } from '../../store/db.ts'
import { forgetTries } from '../../store/notifications/tries.ts'

const keptMs = 30 * 24 * 3_600_000
const batch = 5000

// The log of tries is kept for 30 days; the notification and how it ended stay.
export const forgetOldTries = (db: Db, now: Date) => forgetTries(db, new Date(now.getTime() - keptMs), batch)
