import { figureIn } from '../money.ts'
import type { SanitizedRefundReply } from '../provider/refundOrder.ts'
import type { Reversal } from '../provider/reply.ts'
import { isSameAs } from './applyRefundReply.ts'
import { isOpenRefund, type Refund } from './refund.ts'

// What the provider lists as refunds of a charge. `ours` are refunds that a merchant or an operator requested. `deferred`
// may be such a refund, whose id at the provider is not known yet: they are neither recorded nor lost, and the provider is
// polled again. Only the rest are reversals.
export type MatchedReversals = {
  ours: { refund: Refund; reversal: Reversal }[]
  deferred: Reversal[]
  reversals: Reversal[]
}

export function matchReversals(
  listed: readonly Reversal[],
  refunds: readonly Refund[], // of the charge
): MatchedReversals {
  const matched: MatchedReversals = { ours: [], deferred: [], reversals: [] }
  const rest: Reversal[] = []
  for (const reversal of listed) {
    const refund = refunds.find(one => isOurs(reversal, one))
    if (refund) matched.ours.push({ refund, reversal })
    else rest.push(reversal)
  }
  const isUnmatched = (refund: Refund) => !matched.ours.some(one => one.refund === refund)
  const mayBeOurs = refunds.some(refund => mayAppear(refund) && isUnmatched(refund))
  return mayBeOurs ? { ...matched, deferred: rest } : { ...matched, reversals: rest }
}

// What the list proves about one of our refunds.
export const replyOfListed = (refund: Refund, { id, amount, at }: Reversal): SanitizedRefundReply =>
  amount === refund.amount
    ? {
        state: 'succeeded',
        refund: refund.refund_reference,
        amount,
        currency: refund.currency,
        provider_ref: id,
        ...(at && { provider_time: at }),
      }
    : {
        state: 'other_refund',
        words: `The provider lists the refund ${id} in another amount: ${figureIn(amount, refund.currency)}.`,
        acknowledged: true,
      }

// A provider that refunded twice lists two refunds with our reference. The one whose id is not stored is a reversal.
const isOurs = ({ id, refund_reference }: Reversal, refund: Refund) =>
  isSameAs({ reversal_id: id }, refund) ||
  (refund.provider_ref === null && refund_reference === refund.refund_reference)

// The provider may list the refund under an id that is not stored yet. A refund that was never sent cannot be listed. One
// that is made by hand may be made in the provider's dashboard.
const mayAppear = (refund: Refund) =>
  isOpenRefund(refund) &&
  refund.provider_ref === null &&
  (refund.sent_at !== null || refund.kind === 'manual')
