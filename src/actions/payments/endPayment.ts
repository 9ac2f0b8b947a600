import type { Attempt } from '../../core/payment/attempt.ts'
import type { Ended } from '../../core/payment/end.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { savePaymentChange } from './saveChange.ts'

type Decide = (payment: Payment, attempts: readonly Attempt[], now: Date) => Ended | undefined

// Ends a payment as one of the rules of core/payment/end.ts decides, under its lock; again changes nothing.
export const endPayment = (db: Db, key: PaymentKey, now: Date, decide: Decide) =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return
    const ended = decide(payment, await attemptsOf(tx, key.merchant_id, key.tx_reference), now)
    if (ended) await savePaymentChange(tx, payment, ended.payment, ended.events)
  })
