import type { Refund } from '../../core/refund/refund.ts'
import { retryReference } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { type CreateRefundResult, requestRefundLater } from './createRefund.ts'

// Creates a new refund of the same amount after a refund has failed. In every other state the money may have moved, or may
// still move: undefined. The reference of the retry is derived from the failed refund's, so two operators at once create one
// refund. If the retry fails, too, the retry is what can be retried.
export async function retryRefund(
  deps: PaymentDeps,
  failed: Refund,
  operator: string,
): Promise<CreateRefundResult | undefined> {
  if (failed.state !== 'failed') return undefined
  const { merchant_id, tx_reference, attempt_id, mode, amount, source, reason } = failed
  const attempts = await attemptsOf(deps.db, merchant_id, tx_reference)
  const charge = attempts.find(attempt => attempt.attempt_id === attempt_id)
  return requestRefundLater(deps, {
    merchant_id,
    mode,
    payment: { tx_reference },
    attempt_number: charge?.number,
    refund_id: null,
    refund_reference: retryReference(failed.refund_reference),
    amount,
    source,
    reason,
    by: { requested_by: 'operator', operator },
  })
}
