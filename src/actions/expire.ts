import { expire as decide } from '../core/end.ts'
import { attemptsOf } from '../store/attempts.ts'
import type { Db } from '../store/db.ts'
import { findExpired, lockPayment, type PaymentKey } from '../store/paymentLife.ts'
import { savePaymentChange } from './save.ts'

const batch = 100

// Ends what is due; gives back how many there were. Several nodes may do this at once: each payment is decided
// under its own lock.
export async function expireDue(db: Db, now: Date): Promise<number> {
  const due = await findExpired(db, now, batch)
  for (const key of due) await expire(db, key, now)
  return due.length
}

const expire = (db: Db, key: PaymentKey, now: Date) =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return
    const ended = decide(payment, await attemptsOf(tx, key.merchant_id, key.tx_reference), now)
    if (ended) await savePaymentChange(tx, payment, ended.payment, ended.events)
  })
