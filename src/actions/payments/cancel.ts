import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { Db } from '../../store/db.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { decisionsOn } from './decisions/decisions.ts'

// The customer cancels; again changes nothing.
export const cancel = (
  db: Db,
  { merchant_id, tx_reference }: PaymentKey,
  now: Date,
  deadline = databaseDeadline(),
): Promise<void> => inTime(deadline, decisionsOn(db).cancel({ merchant_id, tx_reference, now }))
