import { named, type Tx } from '../db.ts'
import type { PaymentKey } from './paymentKeys.ts'

// Notes that a visit is sent on to the shop. Not when it was before, nor when as many as may were.
export const recordRedirect = (
  tx: Tx,
  { merchant_id, tx_reference }: PaymentKey,
  visit: string,
  most: number,
) =>
  tx.count(named('note_leave')`
    update payments set left_by = left_by || ${visit}::text
    where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and not ${visit}::text = any(left_by) and cardinality(left_by) < ${most}`)
