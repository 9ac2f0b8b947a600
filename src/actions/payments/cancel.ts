import { cancel as decide } from '../../core/payment/end.ts'
import type { Db } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { savePaymentChange } from './saveChange.ts'

// The customer cancels, under the payment's lock; again changes nothing.
export const cancel = (db: Db, key: PaymentKey, now: Date) =>
  db.share('cancel').transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return
    const ended = decide(payment, await attemptsOf(tx, key.merchant_id, key.tx_reference), now)
    if (ended) await savePaymentChange(tx, payment, ended.payment, ended.events)
  })
