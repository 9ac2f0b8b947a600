import { createExpiry } from '../../../src/actions/payments/expire.ts'
import type { Db } from '../../../src/store/db.ts'

// One search of a new worker, which starts from the oldest. Throws the first error instead of skipping its payment.
export const expireDue = (db: Db, now: Date) =>
  createExpiry(db, ({ error }) => {
    throw error
  })(now)
