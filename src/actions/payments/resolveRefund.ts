import { Unavailable } from '../../core/interface/refusal.ts'
import { pollGap } from '../../core/payment/pollSchedule.ts'
import type { SanitizedRefundReply } from '../../core/provider/refundOrder.ts'
import { applyRefundReply, type RefundReplyContext } from '../../core/refund/applyRefundReply.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { cleanError } from '../../core/text.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { postponeRefund } from '../../store/refunds/dueRefunds.ts'
import { reopenTaskOf } from '../../store/payments/tasks.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { wakeDispatchers } from './writeChanges.ts'
import { changeRefund, chargeOfRefund, refundChangeOf } from './refundedCharge.ts'

// Stores a provider's reply about a refund: what it changes is decided by `applyRefundReply`, under the payment's lock.
// Idempotent: the same reply twice changes nothing. Returns the refund as it is then.
export async function resolveRefund(
  deps: PaymentDeps,
  snapshot: Refund, // as it was when the provider was called
  reply: SanitizedRefundReply,
  context: RefundReplyContext,
): Promise<Refund> {
  const now = deps.clock()
  const resolved = await storeReply(deps, snapshot, reply, context, now).catch(async (error: unknown) => {
    if (!(error instanceof Unavailable)) await raiseNotRecorded(deps, snapshot, reply, error, now)
    throw error
  })
  if (resolved.state !== snapshot.state) wakeDispatchers(deps)
  return resolved
}

async function storeReply(
  deps: PaymentDeps,
  snapshot: Refund,
  reply: SanitizedRefundReply,
  context: RefundReplyContext,
  now: Date,
): Promise<Refund> {
  const resolved = await changeRefund(deps, snapshot, async (tx, payment) => {
    const charge = await chargeOfRefund(tx, payment, snapshot)
    const before = charge.refunds.find(one => one.refund_reference === snapshot.refund_reference)
    if (!before) throw new Error('the refund is missing')
    const decision = applyRefundReply(charge, before, reply, now, context)
    const refund = keepLaterRefundPoll(decision.refund, before, snapshot)
    const change = refundChangeOf(payment, before, { ...decision, refund }, now)
    return { answer: refund, attempt: charge.attempt, change }
  })
  if (!resolved) throw new Error('the payment of a refund is missing')
  return resolved
}

// A webhook or another poll since the call may have scheduled the next poll. That time stays, because the reply may be older
// than the webhook.
function keepLaterRefundPoll(after: Refund, before: Refund, snapshot: Refund): Refund {
  const isLatest =
    before.polls === snapshot.polls && before.next_poll_at?.getTime() === snapshot.next_poll_at?.getTime()
  return isLatest || after.state === 'succeeded' ? after : { ...after, next_poll_at: before.next_poll_at }
}

const maxErrorLength = 300
const minPostponeMs = 60_000 // longer than a lease

// The provider has replied, and the database refused the change. A task is raised once, in its own commit, and the refund is
// polled again with growing gaps, because the next reply may be stored.
async function raiseNotRecorded(
  { db, watch }: PaymentDeps,
  snapshot: Refund,
  reply: SanitizedRefundReply,
  error: unknown,
  now: Date,
) {
  const { merchant_id, tx_reference, attempt_id, refund_reference } = snapshot
  const note =
    `The provider reports ${reply.state} for refund ${refund_reference}. ` +
    `Storing it failed: ${cleanError(error, maxErrorLength)}`
  const attempts = await attemptsOf(db, merchant_id, tx_reference).catch(() => [])
  const attempt = attempts.find(one => one.attempt_id === attempt_id)
  const task = attempt && (await reopenTaskOf(db, attempt, 'not_recorded', note, now).catch(() => undefined))
  if (attempt && task) watch({ attempt, events: [], tasks: [task] })
  const soonest = new Date(now.getTime() + Math.max(pollGap(snapshot.polls), minPostponeMs))
  await postponeRefund(db, snapshot, soonest).catch(() => {}) // then it is polled when its lease ends
}
