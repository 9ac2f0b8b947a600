import type { Db } from '../../store/db.ts'
import { forgetAcknowledgements } from '../../store/notifications/acknowledgedPaths.ts'

const batch = 5000
const dayMs = 24 * 3_600_000
const keptDays = 30

// Of each address the hours of a day are kept, and after a quiet day the last one.
export const forgetOldPaths = (db: Db, now: Date) =>
  forgetAcknowledgements(
    db,
    { day: new Date(now.getTime() - dayMs), month: new Date(now.getTime() - keptDays * dayMs) },
    batch,
  )
