import { decisionOf } from '../../core/refund/applyRefundReply.ts'
import { recordRefund, type RefundRecord } from '../../core/refund/recordRefund.ts'
import type { Refund } from '../../core/refund/refund.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { changeRefund, chargeOfRefund, refundChangeOf } from '../payments/refundedCharge.ts'

type RecordDeps = Pick<PaymentDeps, 'db' | 'localWorkers' | 'watch'>
export type RecordResult = { done: 'recorded'; refund: Refund } | { done: 'refused'; refund: Refund }

// An operator records what became of a refund. Run again with the same record it changes nothing.
export async function storeRefundRecord(
  deps: RecordDeps,
  { merchant_id, tx_reference, attempt_id, refund_reference }: Refund,
  record: RefundRecord,
  now: Date,
): Promise<RecordResult> {
  const key = { merchant_id, tx_reference }
  let runs = 0 // after a lost commit the work runs again, and finds its own record; another form may have the same millisecond
  const result = await changeRefund<RecordResult>(deps, key, async (tx, payment) => {
    const isRerun = ++runs > 1
    const charge = await chargeOfRefund(tx, payment, { attempt_id })
    const before = charge.refunds.find(one => one.refund_reference === refund_reference)
    if (!before) throw new Error('the refund is missing')
    if (isRerun && before.recorded_by === record.by && before.ended_at?.getTime() === now.getTime())
      return { answer: { done: 'recorded', refund: before } }
    const refund = recordRefund(before, record, now)
    if (!refund) return { answer: { done: 'refused', refund: before } }
    const decision = decisionOf(charge, before, refund, [], 'operator', now)
    return {
      answer: { done: 'recorded', refund },
      attempt: charge.attempt,
      change: refundChangeOf(payment, before, decision, now),
    }
  })
  if (!result) throw new Error('the payment of a refund is missing')
  return result
}
