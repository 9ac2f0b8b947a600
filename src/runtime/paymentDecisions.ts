import type { ReplyContext } from '../core/payment/applyReply.ts'
import type { Attempt } from '../core/payment/attempt.ts'
import type { Cause, Change } from '../core/payment/change.ts'
import type { Refused } from '../core/payment/mayStart.ts'
import type { SanitizedReply } from '../core/provider/reply.ts'
import type { MatchedReversals } from '../core/refund/matchReversals.ts'
import type { AttemptToBegin } from '../store/payments/locks.ts'
import type { PaymentKey } from '../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../store/payments/paymentLife.ts'

// The decisions about payments that are frequent. Decisions about different payments share a transaction: see
// actions/payments/decisions.ts, which implements them.
export type PaymentDecisions = {
  begin(item: BeginItem): Promise<BeginResult>
  resolve(item: ResolveItem): Promise<ResolvedChange>
  cancel(item: CancelItem): Promise<void>
}

export type BeginItem = AttemptToBegin & { attempt: Attempt; cause: Cause }
// Without a payment, another request has begun the attempt of this number.
export type BeginResult = { done: 'begun'; payment?: PaymentWithMerchant } | ({ done: 'refused' } & Refused)

export type ResolveItem = PaymentKey & {
  snapshot: Attempt // as it was when the provider was asked
  reply: SanitizedReply
  context: ReplyContext
  account: string
  isOwnAccount: boolean // it belongs to the merchant
  now: Date
}

// `refundsListed`: our refunds that the provider listed as made.
export type ResolvedChange = Change & { refundsListed?: MatchedReversals['ours'] }

export type CancelItem = PaymentKey & { now: Date }
