import { failedRefund, succeededRefund } from './applyRefundReply.ts'
import type { Refund } from './refund.ts'
import { nextRefundPoll } from './refundSchedule.ts'

// What an operator records about a refund: it was paid back, or it will not be.
export type RefundRecord = {
  by: string
  outcome: { done: 'succeeded'; at: Date; reference: string } | { done: 'failed'; note: string }
}

// Only a refund that waits for an operator, or of which the provider gives no clear reply, is recorded by hand. Undefined in
// every other state.
export function recordRefund(before: Refund, { by, outcome }: RefundRecord, now: Date): Refund | undefined {
  if (before.state !== 'needs_action' && before.state !== 'unknown') return undefined
  const recorded = { ...before, recorded_by: by }
  const refund =
    outcome.done === 'failed'
      ? failedRefund(recorded, outcome.note, now)
      : succeededRefund({ ...recorded, recorded_reference: outcome.reference }, outcome.at, now)
  return { ...refund, next_poll_at: nextRefundPoll(refund, now) }
}
