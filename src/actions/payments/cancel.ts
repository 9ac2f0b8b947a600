import { cancel as decide } from '../../core/payment/end.ts'
import type { Db } from '../../store/db.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { endPayment } from './endPayment.ts'

// The customer cancels.
export const cancel = (db: Db, key: PaymentKey, now: Date) => endPayment(db.share('cancel'), key, now, decide)
