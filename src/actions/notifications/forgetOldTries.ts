import { triesKeptMs } from '../../core/notification/deliveryWords.ts'
import type { Db } from '../../store/db.ts'
import { forgetTries } from '../../store/notifications/tries.ts'

const batch = 5000

// The log of tries is kept for a while; the notification and how it ended stay.
export const forgetOldTries = (db: Db, now: Date) =>
  forgetTries(db, new Date(now.getTime() - triesKeptMs), batch)
