import type { Db } from '../../store/db.ts'
import { forgetMessages } from '../../store/messages/messages.ts'

const keptMs = 90 * 24 * 3_600_000
const batch = 5000

// Who was told what is of use while somebody may ask; then an address is only a burden.
export const forgetOldMessages = (db: Db, now: Date) =>
  forgetMessages(db, new Date(now.getTime() - keptMs), batch)
