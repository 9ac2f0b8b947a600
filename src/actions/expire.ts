import { expire } from '../core/end.ts'
import type { Db } from '../store/db.ts'
import { findExpired } from '../store/paymentLife.ts'
import { endPayment } from './endPayment.ts'

const batch = 100

// Ends what is due; gives back how many there were. Several nodes may do this at once: each payment is decided
// under its own lock.
export async function expireDue(db: Db, now: Date): Promise<number> {
  const due = await findExpired(db, now, batch)
  for (const key of due) await endPayment(db, key, now, expire)
  return due.length
}
