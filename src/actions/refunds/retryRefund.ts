import type { Refund } from '../../core/refund/refund.ts'
import { retryReference } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { findRefundByReference } from '../../store/refunds/merchantRefunds.ts'
import { type CreateRefundResult, requestPermittedRefundLater } from './createRefund.ts'

type NotFailed = { fault: 'not_failed'; refund: Refund }

// Creates a new refund of the same amount after a refund has failed. In every other state the money may have moved, or may
// still move. The reference of the retry is derived from the failed refund's, so two operators at once create one refund.
// If the retry fails, too, the retry is what can be retried.
export async function retryRefund(
  deps: PaymentDeps,
  failed: Refund,
  operator: string,
): Promise<CreateRefundResult | NotFailed> {
  if (failed.state !== 'failed') return { fault: 'not_failed', refund: failed }
  const { merchant_id, tx_reference, attempt_id, mode, amount, source, reason, refund_reference } = failed
  const attempts = await attemptsOf(deps.db, merchant_id, tx_reference)
  const charge = attempts.find(attempt => attempt.attempt_id === attempt_id)
  const request = {
    merchant_id,
    mode,
    payment: { tx_reference },
    attempt_number: charge?.number,
    refund_id: null,
    refund_reference: retryReference(refund_reference),
    amount,
    source,
    reason,
    by: { requested_by: 'operator' as const, operator },
  }
  // Read again under the lock: a success that was reported since makes a retry a second refund.
  return requestPermittedRefundLater<NotFailed>(deps, request, async tx => {
    const refund = await findRefundByReference(tx, { merchant_id, refund_reference })
    if (!refund) throw new Error('the failed refund is missing')
    return refund.state === 'failed' ? undefined : { fault: 'not_failed', refund }
  })
}
