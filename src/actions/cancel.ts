import { cancel as decide } from '../core/end.ts'
import { attemptsOf } from '../store/attempts.ts'
import type { Db } from '../store/db.ts'
import { lockPayment, type PaymentKey } from '../store/paymentLife.ts'
import { savePaymentChange } from './save.ts'

// The customer cancels; again changes nothing.
export const cancel = (db: Db, key: PaymentKey, now: Date) =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return
    const ended = decide(payment, await attemptsOf(tx, key.merchant_id, key.tx_reference), now)
    if (ended) await savePaymentChange(tx, payment, ended.payment, ended.events)
  })
