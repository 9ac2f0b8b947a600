import { idempotencyKeyOf } from '../../core/payment/attempt.ts'
import { whyNotSetUp } from '../../core/provider/accountIdentity.ts'
import type { RefundOrder, SanitizedRefundReply } from '../../core/provider/refundOrder.ts'
import { stripBidiControls } from '../../core/text.ts'
import type { RefundReplyContext, RefundSubject } from '../../core/refund/applyRefundReply.ts'
import { chargedOf, isWhole } from '../../core/refund/ceiling.ts'
import { maySendRefund, type Refund, refundKeyOf } from '../../core/refund/refund.ts'
import { webhookIdOf } from '../../runtime/providers/accounts.ts'
import type { GuardedRefunds } from '../../runtime/providers/guardRefunds.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { findPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { changeOf } from '../payments/writeChanges.ts'
import { changeRefund, chargeOfRefund } from '../payments/refundedCharge.ts'
import { resolveRefund } from '../payments/resolveRefund.ts'

// Sends a refund that was never sent, or asks the provider what became of it. A refund that the provider does not have is
// sent again only if the provider moves money once however often it is sent. Undefined if the account is not open on this
// node: then the refund stays due for the nodes that have it.
export const callRefund = (deps: PaymentDeps, refund: Refund): Promise<Refund | undefined> =>
  deps.traces.inPayment(refund, 'refund', {}, async span => {
    const called = await callRefundNow(deps, refund)
    if (called) span.setAttribute('tollgate.refund_state', called.state)
    return called
  })

async function callRefundNow(deps: PaymentDeps, refund: Refund): Promise<Refund | undefined> {
  const account = deps.providerAccounts.findFor(refund)
  if (!account) return undefined
  const { refunds } = account
  if (!refunds)
    return resolveRefund(deps, refund, notSetUp(deps, refund), contextOf(undefined, refund, deps.clock()))
  if (refund.sent_at === null && refund.state === 'requested') return sendRefund(deps, refunds, refund)
  const askedAt = deps.clock()
  const reply = await refunds.checkRefund(await orderToCheck(deps, refund))
  const isSendable = reply.state === 'absent' && maySendRefund(refund, refunds.isIdempotent)
  return isSendable
    ? sendRefund(deps, refunds, refund)
    : resolveRefund(deps, refund, reply, contextOf(refunds, refund, askedAt))
}

const notSetUp = ({ providerAccounts }: PaymentDeps, refund: Refund): SanitizedRefundReply => {
  const opened = providerAccounts.opened().find(({ account }) => account === refund.provider_account)
  const words = opened
    ? `The account ${refund.provider_account} is not set up for refunds: pay it back by other means, then record it.`
    : whyNotSetUp(refund, opened)
  return { state: 'not_set_up', words }
}

const contextOf = (
  refunds: GuardedRefunds | undefined,
  { sends, sent_at }: Refund,
  askedAt: Date,
  sentBefore = sent_at,
): RefundReplyContext => ({
  visibleWithinMs: refunds?.visibleWithinMs,
  timing: refunds?.timing ?? {},
  askedAt,
  sends,
  sentBefore,
})

const maxPauseMs = 5000

// The sending is committed before the request leaves, so that a refund is sent once, even if processes die or several nodes
// decide it at the same time. If this process was paused after the commit, other nodes may have decided by now that the
// refund never arrived: then it is not sent.
async function sendRefund(deps: PaymentDeps, refunds: GuardedRefunds, refund: Refund): Promise<Refund> {
  const askedAt = deps.clock()
  const began = performance.now()
  const sending = await storeSending(deps, refunds, refund, askedAt)
  if (!sending) return refund
  const reply: SanitizedRefundReply =
    performance.now() - began > maxPauseMs
      ? { state: 'not_sent', words: 'This process was too slow to send it.' }
      : await refunds.refund(sending.order)
  return resolveRefund(
    deps,
    sending.refund,
    reply,
    contextOf(refunds, sending.refund, askedAt, refund.sent_at),
  )
}

// Undefined if another node sends the refund, or it ended meanwhile. If the commit was lost, this process does not send.
const storeSending = (
  deps: PaymentDeps,
  { isIdempotent, newIdempotencyKey }: GuardedRefunds,
  polled: Refund,
  now: Date,
): Promise<{ refund: Refund; order: RefundOrder } | undefined> =>
  changeRefund<{ refund: Refund; order: RefundOrder } | undefined>(deps, polled, async (tx, payment) => {
    const charge = await chargeOfRefund(tx, payment, polled)
    const before = charge.refunds.find(one => one.refund_reference === polled.refund_reference)
    if (!before || before.sends !== polled.sends || !maySendRefund(before, isIdempotent))
      return { answer: undefined }
    const after: Refund = {
      ...before,
      idempotency_key: before.idempotency_key ?? newIdempotencyKey(before.refund_reference),
      sends: before.sends + 1,
      sent_at: now,
    }
    const refund = { ...after, polls: polled.polls, next_poll_at: polled.next_poll_at }
    return {
      answer: { refund, order: orderOf(deps, payment, charge, after, before.sent_at) },
      change: { ...changeOf(payment, payment, []), refund: { before, after } },
    }
  })

async function orderToCheck(deps: PaymentDeps, refund: Refund): Promise<RefundOrder> {
  const payment = await findPayment(deps.db, refund)
  if (!payment) throw new Error('the payment of a refund is missing')
  const charge = await chargeOfRefund(deps.db, payment, refund)
  return orderOf(deps, payment, charge, refund, refund.sent_at)
}

function orderOf(
  deps: PaymentDeps,
  payment: PaymentWithMerchant,
  charge: RefundSubject,
  refund: Refund,
  sentBefore: Date | null,
): RefundOrder {
  const others = charge.refunds.filter(
    one => one.attempt_id === refund.attempt_id && one.refund_reference !== refund.refund_reference,
  )
  return {
    refund_reference: refund.refund_reference,
    idempotency_key: refundKeyOf(refund),
    provider_ref: refund.provider_ref,
    amount: refund.amount,
    currency: refund.currency,
    reason: refund.reason,
    is_whole: isWhole(refund.amount, charge, refund),
    requested_at: refund.created_at,
    sent_at: refund.sent_at,
    is_first_sending: sentBefore === null,
    charge: chargeOf(payment, charge),
    tx_reference: refund.tx_reference,
    invoice_id: refund.invoice_id,
    merchant_name: stripBidiControls(payment.merchant_name),
    other_refs: others.flatMap(({ provider_ref }) => provider_ref ?? []),
    callback_url: `${deps.baseUrl()}/callbacks/${refund.refund_reference}`,
    webhook_url: `${deps.baseUrl()}/callbacks/account/${webhookIdOf(refund.provider_account)}`,
  }
}

const chargeOf = (payment: PaymentWithMerchant, charge: RefundSubject): RefundOrder['charge'] => ({
  attempt_id: charge.attempt.attempt_id,
  idempotency_key: idempotencyKeyOf(charge.attempt),
  provider_ref: charge.attempt.provider_ref,
  payment_method: charge.attempt.payment_method,
  amount: chargedOf(charge),
  instrument: charge.attempt.instrument,
  started_at: charge.attempt.created_at,
  paid_at: charge.attempt.ended_at ?? payment.payment_time ?? charge.attempt.created_at,
})
