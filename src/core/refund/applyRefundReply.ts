import { figureIn } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import {
  type Cause,
  event,
  type EventKind,
  type NewEvent,
  type ReversalRecord,
  type Task,
  task,
  type TaskKind,
} from '../payment/change.ts'
import { decideCloseTask } from '../payment/closeTask.ts'
import type { Payment } from '../payment/payment.ts'
import { firstPollAfter } from '../payment/pollSchedule.ts'
import type { ProviderTiming } from '../provider/provider.ts'
import type { SanitizedRefundReply } from '../provider/refundOrder.ts'
import { type ChargeState, exceedsCharge, isReturned, refundedAmountOf } from './ceiling.ts'
import { isOpenRefund, moveRefund, type Refund, type RefundState } from './refund.ts'
import { isOverdueRefund, nextRefundPoll } from './refundSchedule.ts'

// The circumstances of a reply: the provider's terms, when it was called, and how often the refund had been sent by then.
export type RefundReplyContext = {
  visibleWithinMs: number | undefined // after this time "not found" is final; undefined: never
  timing: ProviderTiming
  askedAt: Date
  sends: number
  sentBefore: Date | null // the sending before the one that the reply is about; null: no earlier one can have arrived
}

// A refund with its charge, as stored. `openTasks` are those of the charge.
export type RefundSubject = Omit<ChargeState, 'payment' | 'attempt'> & {
  payment: Payment
  attempt: Attempt
  openTasks: readonly TaskKind[]
}

// Everything that one decision about a refund changes.
export type RefundDecision = {
  payment: Payment
  attempt: Attempt // the charge
  endedAttempt?: Attempt // the charge, if its attempt waited for an operator only and is given up
  refund: Refund
  events: NewEvent[]
  tasks: Task[]
  closes: { kind: TaskKind; note: string }[]
  claimed: ReversalRecord[] // recorded reversals that turn out to be this refund
}

type Effect = { refund: Refund; tasks?: { kind: TaskKind; note: string }[] }

// The change that a provider's reply about a refund causes. The same reply again changes nothing but the next poll.
export function applyRefundReply(
  subject: RefundSubject,
  before: Refund,
  reply: SanitizedRefundReply,
  now: Date,
  context: RefundReplyContext,
): RefundDecision {
  const effect = effectOf(before, reply, now, context)
  const wait = reply.state === 'unknown' ? Math.min(reply.restMs ?? 0, maxRestMs) : 0
  const next = nextRefundPoll(effect.refund, now, context.timing)
  const next_poll_at = next && new Date(Math.max(next.getTime(), now.getTime() + wait))
  const refund = { ...effect.refund, next_poll_at }
  const overdue = isOverdueRefund(refund, now) ? [{ kind: 'refund_unclear' as const, note: overdueNote }] : []
  const refused =
    'isRefusal' in reply && reply.isRefusal ? [{ kind: 'account_refused' as const, note: reply.words }] : []
  const tasks = [...(effect.tasks ?? []), ...overdue, ...refused]
  return decisionOf(subject, before, refund, tasks, 'provider', now)
}

const maxRestMs = 15 * 60_000
const overdueNote = 'The provider has reported no outcome.'

// What each reply does. Only `succeeded` and `failed` end a refund, and `absent` if "not found" is final.
function effectOf(
  before: Refund,
  reply: SanitizedRefundReply,
  now: Date,
  context: RefundReplyContext,
): Effect {
  switch (reply.state) {
    case 'succeeded':
      return { refund: succeededRefund(withFacts(before, reply, now), reply.provider_time ?? now, now) }
    case 'pending':
      return { refund: moved(withFacts(before, reply, now), 'pending', '', now) }
    case 'failed':
      return onFailed(before, reply, now, context)
    case 'needs_action':
      return onNeedsAction(withFacts(before, reply, now), reply.words, now)
    case 'absent':
      return onAbsent(before, now, context)
    case 'not_sent':
      return onNotSent(before, reply, now, context)
    // The provider has no refund call for this account any more. A refund that was never sent is made by hand.
    case 'not_set_up':
      return before.sent_at === null && before.state === 'requested'
        ? onNeedsAction({ ...before, kind: 'manual' }, reply.words, now)
        : { refund: before, tasks: [{ kind: 'not_set_up', note: reply.words }] }
    // Money may have moved, but not as requested.
    case 'other_refund':
      return {
        refund: moved(reply.acknowledged ? acknowledged(before, now) : before, 'unknown', reply.words, now),
        tasks: isOpenRefund(before) ? [{ kind: 'refund_unclear', note: reply.words }] : [],
      }
    default:
      return { refund: onUnknown(before, reply, now) }
  }
}

type ReplyOf<State extends SanitizedRefundReply['state']> = SanitizedRefundReply & { state: State }

// A refusal is about one sending. An earlier one may have arrived, unless the provider did not have it when it would have
// shown it: a refund is sent again only after such an answer.
function onFailed(before: Refund, reply: ReplyOf<'failed'>, now: Date, context: RefundReplyContext): Effect {
  const { sentBefore, visibleWithinMs = Infinity } = context
  const neverArrived = sentBefore === null || sinceSending(sentBefore, context) >= visibleWithinMs
  const isOnlySending = neverArrived && context.sends === before.sends
  if (reply.isRefused && (!isOnlySending || before.acknowledged_at)) {
    const isLatest = context.sends === before.sends && !before.acknowledged_at
    const refund = isLatest ? { ...before, sent_at: sentBefore } : before // the refused sending moved nothing
    return { refund: unclear(withCode(refund, reply), 'The provider refused one of several sendings.', now) }
  }
  return { refund: failedRefund(withFacts(before, reply, now), reply.words, now) }
}

function onNeedsAction(before: Refund, words: string, now: Date): Effect {
  const refund = moved(before, 'needs_action', words, now)
  return refund.state === 'needs_action'
    ? { refund, tasks: [{ kind: 'refund_needs_action', note: words }] }
    : { refund }
}

// A provider that does not list every refund it has accepted never proves that it has none.
// The call that sends it may still be under way, so "not found" counts only after its end.
function onAbsent(before: Refund, now: Date, context: RefundReplyContext): Effect {
  const { visibleWithinMs } = context
  const { acknowledged_at, sent_at } = before
  if (acknowledged_at || !sent_at) return { refund: unclear(before, notFound, now) }
  if (sinceSending(sent_at, context) < (visibleWithinMs ?? 0))
    return { refund: unclear(before, notFound, now) }
  if (visibleWithinMs === undefined) {
    const note = `${notFound} It may still have it: look in its dashboard, then record the outcome.`
    const tasks = isOpenRefund(before) ? [{ kind: 'refund_unclear' as const, note }] : []
    return { refund: unclear(before, notFound, now), tasks }
  }
  return { refund: failedRefund(before, notFound, now) }
}

// Since the call that sent it has ended.
const sinceSending = (sent_at: Date, { askedAt, timing }: RefundReplyContext) =>
  askedAt.getTime() - sent_at.getTime() - firstPollAfter(timing)

const notFound = 'The provider does not have the refund.'

// Nothing of this sending left the process. Without an earlier sending the refund stays requested and is sent later.
function onNotSent(
  before: Refund,
  reply: ReplyOf<'not_sent'>,
  now: Date,
  context: RefundReplyContext,
): Effect {
  if (context.sends !== before.sends || before.acknowledged_at || !isOpenRefund(before))
    return { refund: before }
  const refund = { ...withCode(before, reply), sent_at: context.sentBefore }
  return { refund: context.sentBefore ? unclear(refund, reply.words, now) : refund }
}

function onUnknown(before: Refund, reply: ReplyOf<'unknown'>, now: Date): Refund {
  const coded = withCode(before, reply)
  return unclear(reply.acknowledged ? acknowledged(coded, now) : coded, reply.words, now)
}

// An unclear reply changes only a refund without any reply so far.
const unclear = (before: Refund, reason: string, now: Date) =>
  before.state === 'requested' ? moved(before, 'unknown', reason, now) : before

const moved = (before: Refund, to: RefundState, reason: string, now: Date) =>
  moveRefund(before, to, reason, now) ?? before

const acknowledged = (refund: Refund, now: Date): Refund => ({
  ...refund,
  acknowledged_at: refund.acknowledged_at ?? now,
})

const withCode = (refund: Refund, { provider_code }: { provider_code?: string }): Refund =>
  provider_code ? { ...refund, provider_code } : refund

const withFacts = (
  refund: Refund,
  { provider_ref, provider_code }: { provider_ref?: string; provider_code?: string },
  now: Date,
): Refund => ({
  ...acknowledged(withCode(refund, { provider_code }), now),
  provider_ref: provider_ref ?? refund.provider_ref,
})

export function succeededRefund(before: Refund, at: Date, now: Date): Refund {
  const refund = moveRefund(before, 'succeeded', '', now)
  return refund ? { ...refund, succeeded_at: at, ended_at: now } : before
}

export function failedRefund(before: Refund, reason: string, now: Date): Refund {
  const refund = moveRefund(before, 'failed', reason, now)
  return refund ? { ...refund, ended_at: now } : before
}

const eventOf: Record<RefundState, EventKind> = {
  requested: 'refund_requested',
  pending: 'refund_pending',
  unknown: 'refund_unknown',
  needs_action: 'refund_needs_action',
  succeeded: 'refund_succeeded',
  failed: 'refund_failed',
}

const amountText = ({ amount, currency }: Pick<Refund, 'amount' | 'currency'>) =>
  `${currency} ${figureIn(amount, currency)}`

// The event of a new state.
export function refundEvent(refund: Refund, attempt: Attempt, cause: Cause, now: Date): NewEvent {
  const reason = refund.state === 'requested' ? refund.reason : refund.state_reason
  return event(eventOf[refund.state], cause, attempt, `${amountText(refund)}${reason && `. ${reason}`}`, now)
}

// What follows from a changed refund: events, tasks, the tasks that it closes, and the refunded amount of the payment.
export function decisionOf(
  subject: RefundSubject,
  before: Refund | undefined,
  refund: Refund,
  newTasks: readonly { kind: TaskKind; note: string }[],
  cause: Cause,
  now: Date,
): RefundDecision {
  const { attempt, refunds, moneyBack } = subject
  const others = refunds.filter(({ refund_reference }) => refund_reference !== refund.refund_reference)
  const claimed = moneyBack.reversals.filter(one => !one.refund_reference && isSameAs(one, refund))
  const after: RefundSubject = {
    ...subject,
    refunds: [...others, refund],
    moneyBack: {
      ...moneyBack,
      reversals: moneyBack.reversals.filter(one => !claimed.includes(one)),
    },
  }
  const hasMoved = refund.state !== before?.state
  const note = (text: string) => `Refund ${refund.refund_reference} of ${amountText(refund)}. ${text}`
  const exceeds = hasMoved && refund.state === 'succeeded' && exceedsCharge(after)
  const tasks = [
    ...newTasks.map(one => task(attempt, one.kind, refund, note(one.note), now)),
    ...(exceeds ? [task(attempt, 'refund_exceeds', refund, note(exceedsNote), now)] : []),
  ]
  const events = [
    ...claimed.map(one =>
      event('reversal_was_refund', 'provider', attempt, `${amountText(refund)}, ${one.reversal_id}`, now),
    ),
    ...(hasMoved ? [refundEvent(refund, attempt, cause, now)] : []),
  ]
  const closes = closedBy(after, refund)
  const closing = closes.find(({ kind }) => kind === 'amount_mismatch')
  const ending = closing && decideCloseTask(subject.payment, attempt, 'amount_mismatch', closing.note, now)
  return {
    payment:
      hasMoved || claimed.length > 0
        ? withSums(ending?.payment ?? subject.payment, after, claimed, now)
        : subject.payment,
    attempt,
    endedAttempt: ending?.gaveUp ? ending.attempt : undefined,
    refund,
    events: [...events, ...(ending?.events ?? [])],
    tasks,
    closes,
    claimed,
  }
}

const exceedsNote = 'More went back than the charge allows. Ask the provider, or agree with the merchant.'

// The provider lists the refund by its id, or by the reference that an operator recorded.
export const isSameAs = (
  { reversal_id }: Pick<ReversalRecord, 'reversal_id'>,
  { provider_ref, recorded_reference }: Pick<Refund, 'provider_ref' | 'recorded_reference'>,
) => reversal_id === provider_ref || reversal_id === recorded_reference

// Tasks that need no operator any more.
function closedBy(after: RefundSubject, refund: Refund): RefundDecision['closes'] {
  const ofCharge = after.refunds.filter(({ attempt_id }) => attempt_id === refund.attempt_id)
  const isOpen = (kind: TaskKind) => after.openTasks.includes(kind)
  const closes: RefundDecision['closes'] = []
  const note = `Refund ${refund.refund_reference}: ${refund.state}.`
  if (isOpen('refund_needs_action') && !ofCharge.some(({ state }) => state === 'needs_action'))
    closes.push({ kind: 'refund_needs_action', note })
  if (isOpen('refund_unclear') && !isOpenRefund(refund) && !ofCharge.some(isOpenRefund))
    closes.push({ kind: 'refund_unclear', note })
  if (refund.state === 'succeeded' && isReturned(after)) {
    if (isOpen('refund')) closes.push({ kind: 'refund', note: returnedNote })
    if (isOpen('amount_mismatch')) closes.push({ kind: 'amount_mismatch', note: returnedNote })
  }
  return closes
}

const returnedNote = 'The charge was refunded.'

// A reversal that was counted and is one of our refunds is subtracted again.
function withSums(
  payment: Payment,
  { refunds, attempt }: RefundSubject,
  claimed: readonly ReversalRecord[],
  now: Date,
): Payment {
  const refunded_amount = refundedAmountOf(refunds)
  const isPaying = payment.paid_attempt_id === attempt.attempt_id
  const sum = isPaying ? claimed.reduce((total, { amount }) => total + amount, 0n) : 0n
  const left = (payment.reversed_amount ?? 0n) - sum
  const reversed =
    sum === 0n ? {} : left > 0n ? { reversed_amount: left } : { reversed_amount: null, reversed_at: null }
  return { ...payment, ...reversed, refunded_amount, updated_at: now }
}
