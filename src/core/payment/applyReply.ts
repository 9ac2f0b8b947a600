import { maskInstrument } from '../mask.ts'
import { figureIn } from '../money.ts'
import type { ProviderTiming } from '../provider/provider.ts'
import { type Reason, reasons } from '../provider/reason.ts'
import type { ReplyFacts, SanitizedReply } from '../provider/reply.ts'
import {
  type Attempt,
  isAcknowledged,
  isOverForSending,
  isUnresolved,
  requestEndsAt,
  resendForMs,
} from './attempt.ts'
import {
  type Cause,
  type Change,
  event,
  type MoneyBack,
  noMoneyBack,
  statusEvent,
  type Task,
  task,
} from './change.ts'
import { move, type Payment } from './payment.ts'
import { furthestPollMs, nextPoll, overdueAfterMs } from './pollSchedule.ts'
import { recordMoneyBack, reversedOf, withReversals } from './reverse.ts'

// The circumstances of a reply: the provider's terms, when the provider was called, and how often the order had been sent
// and input been submitted by then. A reply that is stored late describes the moment of the call.
export type ReplyContext = {
  absentForMs: number // for this time "not found" may mean "not visible yet", or the order may still be paid
  lifetimeMs: number | undefined // of a request
  failureMayReverseForMs: number | undefined
  timing: ProviderTiming
  askedAt: Date
  sends: number
  submits: number
}

// Everything that decides what a reply does. `before` is the attempt as stored, `stored` its refunds and disputes.
type Subject = { payment: Payment; before: Attempt; stored: MoneyBack; context: ReplyContext; now: Date }
type ReplyOf<State extends SanitizedReply['state']> = SanitizedReply & { state: State }

// The change that a provider's reply causes. The same reply again changes nothing.
export function applyReply(
  payment: Payment,
  before: Attempt,
  reply: SanitizedReply,
  now: Date,
  context: ReplyContext,
  stored: MoneyBack = noMoneyBack,
): Change {
  const subject = { payment, before, stored, context, now }
  const change = before.state === 'paid' ? afterPaid(subject, reply) : effectOf(subject, reply)
  const attempt = { ...change.attempt, next_poll_at: nextPollOf(subject, change.attempt, reply) }
  return { ...change, attempt, tasks: [...change.tasks, ...followUpTasks(subject, attempt, reply)] }
}

// A paid attempt stays paid. Only its refunds and disputes are recorded.
const afterPaid = (subject: Subject, reply: SanitizedReply): Change =>
  reply.state === 'paid'
    ? recordMoneyBack(subject.payment, subject.before, reply, subject.stored, subject.now)
    : unchanged(subject)

// What each reply does to an attempt that is not paid. `failed`, `declined`, `absent` and `not_sent` can fail it; only
// `paid` can pay it. Everything else leaves the outcome open.
function effectOf(subject: Subject, reply: SanitizedReply): Change {
  switch (reply.state) {
    // The amount is right: the attempt and the payment are paid, even if they had failed. Otherwise: disputed, with a task.
    case 'paid':
      return onPaid(subject, reply)
    // Paid, but the amount is unreadable: disputed, with a task.
    case 'paid_mismatch':
      return onPaidMismatch(subject, reply)
    // The attempt fails, unless only one of several sendings was refused.
    case 'failed':
      return onFailed(subject, reply)
    // Pending while the customer can try another card on the provider's page; then the attempt fails.
    case 'declined':
      return onDeclined(subject, reply)
    // Pending, or needs input if the provider asks for a step.
    case 'pending':
      return onPending(subject, reply)
    // The attempt fails once "not found" is final. Until then: unknown.
    case 'absent':
      return onAbsent(subject)
    // The order is sent again. The attempt fails if the customer is gone; it is unknown if an earlier sending may have arrived.
    case 'not_sent':
      return onNotSent(subject, reply)
    // The provider was not called: unknown, with a task to set the account up again.
    case 'not_set_up':
      return withTask(subject, 'not_set_up', reply.words)
    // The reply is about another order: unknown, with a task, because money may have moved unnoticed.
    case 'other_order':
      return withTask(subject, 'other_order', reply.words)
    // `unknown`, no clear reply: the outcome stays open.
    default:
      return onUnknown(subject, reply)
  }
}

const unchanged = ({ payment, before }: Subject): Change => ({
  payment,
  attempt: before,
  events: [],
  tasks: [],
})

// A provider that does not report the amount was paid what was requested. A charge that was reversed completely before it
// was recorded as paid never pays; one that was reversed partly is another amount than requested.
function onPaid(subject: Subject, reply: ReplyOf<'paid'>): Change {
  const { payment, before, stored, now } = subject
  const amount = reply.amount === 'not_said' ? payment.total : reply.amount
  const charged = reply.charged ?? amount
  const charged_currency = reply.currency === payment.currency ? null : reply.currency
  const attempt = withReply({ ...before, charged, charged_currency }, reply, now)
  const reversed = reversedOf(reply, stored)
  if (reversed > 0n && reversed >= amount)
    return withReversals(reversedBeforePaid(payment, attempt, reversed, now), reply, stored, now)
  if (reversed > 0n)
    return withReversals(partlyReversed(payment, before, attempt, reversed, now), reply, stored, now)
  if (amount === payment.total && reply.currency === payment.currency) return paid(payment, attempt, now)
  return charged === before.charged
    ? { payment, attempt, events: [], tasks: [] }
    : disputed(payment, attempt, { amount, currency: reply.currency }, now)
}

function paid(payment: Payment, before: Attempt, now: Date): Change {
  const attempt: Attempt = { ...ended(before, now), state: 'paid', reason: null }
  const events = [event('attempt_paid', 'provider', attempt, '', now)]
  const late = payment.status !== 'awaiting_payment'
  const moved = move(payment, 'paid', late ? 'The money arrived late.' : '', now)
  if (!moved) {
    events.push(event('overpaid', 'provider', attempt, 'The payment was already paid.', now))
    const note = 'A second success for one payment.'
    return { payment, attempt, events, tasks: [task(attempt, 'refund', dueOf(payment), note, now)] }
  }
  const { attempt_id: paid_attempt_id, charged } = attempt
  const after: Payment = { ...withAttempt(moved, attempt), payment_time: now, charged, paid_attempt_id, late }
  events.push(statusEvent(payment, after, 'provider', attempt, now))
  return { payment: after, attempt, events, tasks: [] }
}

// Another amount than requested never pays. A failed attempt stays failed, because the customer may be trying again by
// now; the task is raised either way.
function disputed(payment: Payment, before: Attempt, reply: Pick<Task, 'amount' | 'currency'>, now: Date) {
  const note = `The provider reports ${textOf(reply)}; ${textOf(dueOf(payment))} was requested.`
  const attempt: Attempt = isUnresolved(before) ? { ...before, state: 'disputed', step: null } : before
  const tasks = [task(attempt, 'amount_mismatch', reply, note, now)]
  return { payment, attempt, events: [event('attempt_disputed', 'provider', attempt, note, now)], tasks }
}

function reversedBeforePaid(payment: Payment, attempt: Attempt, reversed: bigint, now: Date): Change {
  const change = isUnresolved(attempt)
    ? failAttempt(payment, attempt, 'reversed', now)
    : { payment, attempt, events: [], tasks: [] }
  const { currency } = payment
  const note = 'The charge was reversed before it was reported paid. The customer may pay again.'
  const tasks = [task(attempt, 'reversed', { amount: reversed, currency }, note, now)]
  return { ...change, tasks }
}

function partlyReversed(payment: Payment, before: Attempt, attempt: Attempt, reversed: bigint, now: Date) {
  if (before.charged === attempt.charged) return { payment, attempt, events: [], tasks: [] }
  const left = (attempt.charged ?? payment.total) - reversed
  return disputed(payment, attempt, { amount: left > 0n ? left : 0n, currency: payment.currency }, now)
}

// Only the note of the task contains the unreadable amount. The task is raised once, however often the reply is repeated.
function onPaidMismatch({ payment, before, now }: Subject, reply: ReplyOf<'paid_mismatch'>): Change {
  const note = `${reply.words} ${textOf(dueOf(payment))} was requested.`
  const isNew = isUnresolved(before) && before.state !== 'disputed'
  const state = isNew ? 'disputed' : before.state
  const attempt: Attempt = { ...withReply(before, reply, now), state, step: null }
  const events = isNew ? [event('attempt_disputed', 'provider', attempt, note, now)] : []
  const tasks = [task(attempt, 'amount_mismatch', dueOf(payment), note, now)]
  return { payment, attempt, events, tasks }
}

// The provider reports paid, but its reference has paid another attempt: the same money does not pay twice.
export function referenceTaken(
  payment: Payment,
  before: Attempt,
  { reference, holder }: { reference: string; holder: string }, // `holder`: the attempt that the reference has paid
  now: Date,
): Change {
  const reason = `The reference ${reference} has already paid another attempt.`
  const isNew = isUnresolved(before) && before.state !== 'disputed'
  const attempt: Attempt = {
    ...acknowledged(before, now),
    state: isNew ? 'disputed' : before.state,
    step: null,
    updated_at: now,
  }
  attempt.next_poll_at = nextPoll(attempt, now)
  const events = isNew ? [event('attempt_doubted', 'provider', attempt, reason, now)] : []
  const note = `The provider reports paid by the reference ${reference}, which has already paid ${holder}.`
  const tasks = [task(attempt, 'reference_taken', dueOf(payment), note, now)]
  return { payment, attempt, events, tasks }
}

function onFailed(subject: Subject, reply: ReplyOf<'failed'>): Change {
  const { payment, before, now } = subject
  if (!isUnresolved(before)) return unchanged(subject)
  return reply.isStartRefused && !isOnlySending(subject)
    ? unclear(payment, withCode(before, reply), 'The provider refused one of several sendings.', now)
    : failAttempt(payment, withReply(before, reply, now), reply.reason, now)
}

// The failure of an attempt that the customer gave up does not fail the payment: the customer continues to pay it.
export function failAttempt(
  payment: Payment,
  before: Attempt,
  reason: Reason,
  now: Date,
  cause: Cause = 'provider',
): Change {
  const attempt: Attempt = { ...ended(before, now), state: 'failed', reason }
  const events = [event('attempt_failed', cause, attempt, reasons[reason], now)]
  if (payment.status !== 'awaiting_payment') return { payment, attempt, events, tasks: [] }
  const after = withAttempt(payment, attempt)
  const moved = payment.cancel_requested_at
    ? move(after, 'cancelled', reasons.cancelled, now)
    : attempt.gave_up_at
      ? undefined
      : move(after, 'failed', reasons[reason], now)
  if (moved) events.push(statusEvent(payment, moved, cause, attempt, now))
  return { payment: moved ?? after, attempt, events, tasks: [] }
}

const declineLastsMs = 30 * 60_000 // a hosted page stays open for another card
const returnAnsweredMs = 30_000 // a poll this soon after the customer's return was made because of it

// A card was declined on the provider's page, which is still open. The attempt fails when the customer has left the page:
// by returning, by choosing another payment method, by cancelling, or by doing nothing for half an hour.
function onDeclined(subject: Subject, reply: ReplyOf<'declined'>): Change {
  const { payment, before, now } = subject
  const { askedAt } = subject.context
  if (!isUnresolved(before)) return unchanged(subject)
  const isSame = before.declined_at !== null && isSameDecline(before, reply)
  const declined_at = isSame ? before.declined_at : askedAt
  const hasReturned =
    before.returned_at !== null &&
    (isSame
      ? before.returned_at >= (declined_at as Date)
      : askedAt.getTime() - before.returned_at.getTime() <= returnAnsweredMs)
  const isOver = isSame && askedAt.getTime() - (declined_at as Date).getTime() >= declineLastsMs
  const attempt: Attempt = { ...withReply(before, reply, now), declined_at }
  if (hasReturned || isOver || before.gave_up_at || payment.cancel_requested_at)
    return failAttempt(payment, attempt, reply.reason, now)
  const state = before.state === 'disputed' ? 'disputed' : 'pending'
  const events = isSame ? [] : [event('attempt_declined', 'provider', attempt, reasons[reply.reason], now)]
  return { payment, attempt: { ...attempt, state, step: null }, events, tasks: [] }
}

const isSameDecline = (before: Attempt, { psp_response_msg, psp_response_code, provider_time }: ReplyFacts) =>
  (psp_response_msg ?? before.psp_response_msg) === before.psp_response_msg &&
  (psp_response_code ?? before.psp_response_code) === before.psp_response_code &&
  (provider_time?.getTime() ?? before.provider_time?.getTime()) === before.provider_time?.getTime()

// A reply to a call from before the customer's last submission does not open the step again.
function onPending(subject: Subject, reply: ReplyOf<'pending'>): Change {
  const { payment, before, now, context } = subject
  if (!isUnresolved(before)) return unchanged(subject)
  const { redirect_url = before.redirect_url, qr = before.qr } = reply
  const isOld = context.submits !== before.submits
  const step = before.state === 'disputed' ? null : isOld ? before.step : (reply.step ?? null)
  const state = before.state === 'disputed' ? 'disputed' : step ? 'needs_input' : 'pending'
  const attempt: Attempt = { ...withReply(before, reply, now), state, step, redirect_url, qr }
  const kind = state === 'needs_input' ? 'attempt_needs_input' : 'attempt_pending'
  const events = before.state === state ? [] : [event(kind, 'provider', attempt, step?.name ?? '', now)]
  return { payment, attempt, events, tasks: [] }
}

function onAbsent({ payment, before, now, context }: Subject): Change {
  if (!neverAcknowledged(before) || context.askedAt < absentFinalAt(before, context))
    return unclear(payment, before, 'The provider does not have this order.', now)
  const reason = before.provider_code ? 'refused' : 'never_arrived' // a code shows that the order arrived
  return failAttempt(payment, { ...before, updated_at: now }, reason, now)
}

// From this moment on "not found" is final. An order is sent again within `resendForMs` of its creation, if at all.
const absentFinalAt = ({ created_at, sends }: Attempt, { absentForMs }: ReplyContext) =>
  new Date(Math.min(created_at.getTime() + absentForMs + (sends > 1 ? resendForMs : 0), endOfTime))
const endOfTime = 8.64e15

// The reply is about one sending and those before it, none of which was sent. It does not prove anything about another
// sending, which may have arrived.
function onNotSent(subject: Subject, reply: ReplyOf<'not_sent'>): Change {
  const { payment, now, context } = subject
  const before = withCode(subject.before, reply)
  if (!isOnlySending(subject)) return unclear(payment, before, reply.words, now)
  const attempt: Attempt = { ...before, updated_at: now }
  if (isOverForSending(payment, before, now)) return failAttempt(payment, attempt, 'not_sent', now)
  const isNew = before.state !== 'not_sent' && context.sends === 1
  const events = isNew ? [event('attempt_not_sent', 'provider', before, reply.words, now)] : []
  return { payment, attempt: { ...attempt, state: 'not_sent' }, events, tasks: [] }
}

function withTask(
  { payment, before, now }: Subject,
  kind: 'not_set_up' | 'other_order',
  note: string,
): Change {
  const change = unclear(payment, before, note, now)
  return { ...change, tasks: [task(before, kind, dueOf(payment), note, now)] }
}

function onUnknown({ payment, before, now }: Subject, reply: ReplyOf<'unknown'>): Change {
  const coded = withCode(before, reply)
  const attempt = reply.acknowledged ? acknowledged(coded, now) : coded
  return unclear(payment, attempt, reply.words, now)
}

// An unclear reply leaves the attempt as it is, to be polled again. Only the first one is an event.
function unclear(payment: Payment, before: Attempt, reason: string, now: Date): Change {
  if (before.state !== 'started') return { payment, attempt: before, events: [], tasks: [] }
  const attempt: Attempt = { ...before, state: 'unknown', updated_at: now }
  return { payment, attempt, events: [event('attempt_unknown', 'provider', attempt, reason, now)], tasks: [] }
}

// No reply has shown that the provider has the order.
const neverAcknowledged = (attempt: Attempt) => isUnresolved(attempt) && !isAcknowledged(attempt)

// The sending that the reply is about is the only one that can have reached the provider. A paused node may get its reply
// after another node has sent the order again.
const isOnlySending = ({ before, context }: Subject) =>
  neverAcknowledged(before) && before.resent_at === null && before.sends === context.sends

// If the provider has the order, it was sent, whatever was recorded.
function acknowledged(attempt: Attempt, now: Date): Attempt {
  if (attempt.acknowledged_at) return attempt
  return { ...attempt, acknowledged_at: now, state: attempt.state === 'not_sent' ? 'unknown' : attempt.state }
}

const withCode = (attempt: Attempt, { provider_code }: { provider_code?: string }): Attempt =>
  provider_code ? { ...attempt, provider_code } : attempt

function withReply(attempt: Attempt, reply: ReplyFacts, now: Date): Attempt {
  return {
    ...acknowledged(attempt, now),
    provider_ref: reply.provider_ref ?? attempt.provider_ref,
    instrument: attempt.instrument ?? reply.instrument ?? null,
    card_type: reply.card_type ?? attempt.card_type,
    psp_response_code: reply.psp_response_code ?? attempt.psp_response_code,
    psp_response_msg: reply.psp_response_msg ?? attempt.psp_response_msg,
    provider_code: reply.provider_code ?? attempt.provider_code,
    provider_text: reply.text ?? attempt.provider_text,
    provider_time: reply.provider_time ?? attempt.provider_time,
    fee: reply.fee ?? attempt.fee,
    net: reply.net ?? attempt.net,
    updated_at: now,
  }
}

// The customer's input is private, and not needed after the end.
const ended = (attempt: Attempt, now: Date): Attempt => ({
  ...attempt,
  given: {},
  step: null,
  provider_text: null,
  updated_at: now,
  ended_at: now,
})

// The fields of the latest attempt that a status check reports.
export function withAttempt<P extends Payment>(payment: P, attempt: Attempt): P {
  const { payment_method, instrument, provider_ref, card_type, psp_response_code, psp_response_msg } = attempt
  return {
    ...payment,
    payment_method,
    payment_instrument: maskInstrument(instrument),
    payment_reference: provider_ref,
    card_type,
    psp_response_code,
    psp_response_msg,
  }
}

const dueOf = ({ total, currency }: Payment) => ({ amount: total, currency })

const textOf = ({ amount, currency }: Pick<Task, 'amount' | 'currency'>) =>
  `${currency} ${figureIn(amount, currency)}`

function nextPollOf({ before, context, now }: Subject, attempt: Attempt, reply: SanitizedReply): Date | null {
  const { lifetimeMs, failureMayReverseForMs, timing, askedAt } = context
  const next = nextPoll(attempt, now, {
    wasClear: !unclearStates.has(reply.state) && !hasDisputesLeft(before, reply),
    askedAt,
    endsAt: lifetimeMs === undefined ? undefined : requestEndsAt(before, lifetimeMs),
    absentAt: neverAcknowledged(attempt) ? absentFinalAt(attempt, context) : undefined,
    failureMayReverseForMs,
    timing,
  })
  return next && afterRest(next, reply, now)
}

const unclearStates = new Set<SanitizedReply['state']>(['unknown', 'not_sent', 'not_set_up', 'other_order'])

// An attempt that becomes paid now is polled once more for its disputes, so that the merchant reads `paid` first.
const hasDisputesLeft = (before: Attempt, reply: SanitizedReply) =>
  before.state !== 'paid' && reply.state === 'paid' && (reply.disputes?.length ?? 0) > 0

// A provider may request a pause.
function afterRest(next: Date, reply: SanitizedReply, now: Date): Date {
  const restMs = reply.state === 'unknown' ? Math.min(reply.restMs ?? 0, furthestPollMs.unresolved) : 0
  return new Date(Math.max(next.getTime(), now.getTime() + restMs))
}

function followUpTasks({ payment, before, now }: Subject, attempt: Attempt, reply: SanitizedReply): Task[] {
  const tasks: Task[] = []
  if ('isRepeatedCode' in reply && reply.isRepeatedCode)
    tasks.push(task(attempt, 'unknown_code', dueOf(payment), reply.provider_code ?? '', now))
  if (isUnresolved(attempt) && now.getTime() - before.created_at.getTime() >= overdueAfterMs)
    tasks.push(task(attempt, 'unresolved', dueOf(payment), '', now))
  return tasks
}

// A callback or another poll since the call may have scheduled the next poll. That time stays, because the reply may be
// older than the callback.
export function keepLaterPoll(
  after: Attempt,
  before: Attempt,
  snapshot: Pick<Attempt, 'polls' | 'next_poll_at'>, // the attempt when the provider was called
): Attempt {
  const isLatest =
    before.polls === snapshot.polls && before.next_poll_at?.getTime() === snapshot.next_poll_at?.getTime()
  const isOver = after.state === 'paid' && !before.check_reversals
  return isLatest || isOver ? after : { ...after, next_poll_at: before.next_poll_at }
}
