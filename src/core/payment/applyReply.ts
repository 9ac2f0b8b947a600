import type { ProviderTiming } from '../provider/provider.ts'
import { type Reason, reasons } from '../provider/reason.ts'
import type { SanitizedReply, Reply, ReplyFacts } from '../provider/reply.ts'
import { maskInstrument } from '../mask.ts'
import { figureIn } from '../money.ts'
import { type Attempt, isAcknowledged, isUnresolved, requestEndsAt } from './attempt.ts'
import { type Change, event, statusEvent, task } from './change.ts'
import type { Cause } from './event.ts'
import { type MoneyBack, noMoneyBack } from './moneyBack.ts'
import { move, type Payment } from './payment.ts'
import { furthestPollMs, nextPoll, resendForMs, overdueAfterMs } from './pollSchedule.ts'
import { recordMoneyBack, reversedOf, withReversals } from './reverse.ts'
import { isOverForSending } from './sendAgain.ts'
import type { Task } from './task.ts'

// What a reply is worth: how long the provider lets an absent order be one that is not in sight yet or can still be paid,
// how long what was sent lives, how long a no may become a yes, when we asked, and how often the order had been sent, and
// what the customer typed, by then. Whoever was held up writes down an answer that is long over: it tells of that moment.
export type ReplyContext = {
  absentForMs: number
  lifetimeMs: number | undefined
  failureMayReverseForMs: number | undefined
  timing: ProviderTiming
  askedAt: Date
  sends: number
  submits: number
}

// A provider replied to a question of ours about an attempt: what follows. Safe to call again with the same reply.
export function applyReply(
  payment: Payment,
  attempt: Attempt,
  reply: SanitizedReply,
  now: Date,
  worth: ReplyContext,
  stored: MoneyBack = noMoneyBack, // what is recorded of the attempt's refunds and disputes
): Change {
  const change = decide(payment, attempt, reply, now, worth, stored)
  const { created_at } = attempt
  const wasClear = !unclearStates.has(reply.state) && !leavesDisputes(attempt, reply)
  const { lifetimeMs, failureMayReverseForMs, timing: pace, askedAt } = worth
  const endsAt = lifetimeMs === undefined ? undefined : requestEndsAt(attempt, lifetimeMs)
  const absentAt = neverAcknowledged(change.attempt) ? absentFinalAt(change.attempt, worth) : undefined
  const next = nextPoll(change.attempt, now, {
    wasClear,
    askedAt,
    endsAt,
    absentAt,
    failureMayReverseForMs,
    timing: pace,
  })
  const next_poll_at = next && afterRest(next, reply, now)
  if ('isRepeatedCode' in reply && reply.isRepeatedCode)
    change.tasks.push(
      task(payment, change.attempt, 'unknown_code', dueOf(payment), reply.provider_code ?? '', now),
    )
  if (isUnresolved(change.attempt) && now.getTime() - created_at.getTime() >= overdueAfterMs)
    change.tasks.push(task(payment, change.attempt, 'unresolved', dueOf(payment), '', now))
  return { ...change, attempt: { ...change.attempt, next_poll_at } }
}

// A provider that wants to be left alone is, for as long as anybody is.
function afterRest(next: Date, reply: SanitizedReply, now: Date): Date {
  const restMs = reply.state === 'unknown' ? Math.min(reply.restMs ?? 0, furthestPollMs.unresolved) : 0
  return new Date(Math.max(next.getTime(), now.getTime() + restMs))
}

// A callback or a poll after the question that this answers has set a time to poll again: it stands, because the
// answer may be older than what they know of.
export function keepLaterPoll(
  after: Attempt,
  before: Attempt,
  asked: Pick<Attempt, 'polls' | 'next_poll_at'>, // as it was when we asked
): Attempt {
  const isOurs =
    before.polls === asked.polls && before.next_poll_at?.getTime() === asked.next_poll_at?.getTime()
  const isOver = after.state === 'paid' && !before.check_reversals
  return isOurs || isOver ? after : { ...after, next_poll_at: before.next_poll_at }
}

const unclearStates = new Set<SanitizedReply['state']>(['unknown', 'not_sent', 'not_set_up', 'other_order'])

// An attempt that becomes paid now is asked once more, so that its disputes follow in an order that a merchant expects.
const leavesDisputes = (before: Attempt, reply: SanitizedReply) =>
  before.state !== 'paid' && reply.state === 'paid' && (reply.disputes?.length ?? 0) > 0

function decide(
  payment: Payment,
  before: Attempt,
  reply: SanitizedReply,
  now: Date,
  worth: ReplyContext,
  stored: MoneyBack,
): Change {
  const same = { payment, attempt: before, events: [], tasks: [] }
  if (before.state === 'paid')
    return reply.state === 'paid' ? recordMoneyBack(payment, before, reply, stored, now) : same
  switch (reply.state) {
    case 'paid':
      return saidYes(payment, before, reply, now, stored)
    case 'paid_mismatch':
      return paidMismatch(payment, before, reply, now)
    case 'failed':
      if (!isUnresolved(before)) return same
      return reply.isStartRefused && !isOnlySending(before, worth)
        ? unclear(payment, withCode(before, reply), 'The provider refused one of several sendings.', now)
        : failed(payment, withReply(before, reply, now), reply.reason, now)
    case 'declined':
      return isUnresolved(before) ? declined(payment, before, reply, now, worth) : same
    case 'pending':
      return pending(payment, before, reply, now, worth)
    case 'absent':
      return neverAcknowledged(before) && worth.askedAt >= absentFinalAt(before, worth)
        ? failed(payment, { ...before, updated_at: now }, absentReason(before), now)
        : unclear(payment, before, 'The provider does not know this attempt.', now)
    case 'not_sent':
      return notSent(payment, withCode(before, reply), reply.words, now, worth)
    case 'not_set_up':
      return notSetUp(payment, before, reply.words, now)
    case 'other_order':
      return otherOrder(payment, before, reply.words, now)
    default:
      return unclear(
        payment,
        acknowledged(withCode(before, reply), reply.acknowledged === true, now),
        reply.words,
        now,
      )
  }
}

// The provider has never shown that it has the order of this attempt.
const neverAcknowledged = (attempt: Attempt) => isUnresolved(attempt) && !isAcknowledged(attempt)

// The sending that the reply is about is the only one that can have reached the provider. A node that was paused may get
// its answer after another node has sent the order again.
const isOnlySending = (attempt: Attempt, { sends }: ReplyContext) =>
  neverAcknowledged(attempt) && attempt.resent_at === null && attempt.sends === sends

// From this moment on "not found" is final. An order is sent again within `resendForMs` of its creation, if at all.
const absentFinalAt = ({ created_at, sends }: Attempt, { absentForMs }: ReplyContext) =>
  new Date(Math.min(created_at.getTime() + absentForMs + (sends > 1 ? resendForMs : 0), endOfTime))
const endOfTime = 8.64e15

// A provider that answered with a code received the order and refused it.
const absentReason = ({ provider_code }: Attempt): Reason => (provider_code ? 'refused' : 'never_arrived')

const withCode = (attempt: Attempt, { provider_code }: { provider_code?: string }): Attempt =>
  provider_code ? { ...attempt, provider_code } : attempt

// If the provider knows the order, it was sent, whatever we recorded.
function acknowledged(attempt: Attempt, isSo: boolean, now: Date): Attempt {
  if (!isSo || attempt.acknowledged_at) return attempt
  return { ...attempt, acknowledged_at: now, state: attempt.state === 'not_sent' ? 'unknown' : attempt.state }
}

// Where the provider does not tell the amount, it is the one that was asked for. A charge that was wholly reversed before
// it was ever reported paid never pays; one that was partly reversed is another amount than was asked for.
function saidYes(
  payment: Payment,
  before: Attempt,
  reply: Reply & { state: 'paid' },
  now: Date,
  stored: MoneyBack,
): Change {
  const amount = reply.amount === 'not_said' ? payment.total : reply.amount
  const charged = reply.charged ?? amount
  const attempt = withReply({ ...before, charged }, reply, now)
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

function reversedBeforePaid(payment: Payment, attempt: Attempt, reversed: bigint, now: Date): Change {
  const change = isUnresolved(attempt)
    ? failed(payment, attempt, 'reversed', now)
    : { payment, attempt, events: [], tasks: [] }
  const { currency } = payment
  const note = 'The charge was reversed before it was reported paid. The customer may pay again.'
  const tasks = [task(payment, attempt, 'reversed', { amount: reversed, currency }, note, now)]
  return { ...change, tasks }
}

function partlyReversed(
  payment: Payment,
  before: Attempt,
  attempt: Attempt,
  reversed: bigint,
  now: Date,
): Change {
  const { currency } = payment
  const left = (attempt.charged ?? payment.total) - reversed
  if (before.charged === attempt.charged) return { payment, attempt, events: [], tasks: [] }
  return disputed(payment, attempt, { amount: left > 0n ? left : 0n, currency }, now)
}

const declineLastsMs = 30 * 60_000 // a hosted page stays open for another card
const returnAnsweredMs = 30_000 // a question this soon after the customer's return was asked because of it

// A card was declined on the provider's page, which is still open. The attempt ends when the customer has left the page:
// by returning, by choosing another method, or by doing nothing for half an hour.
function declined(
  payment: Payment,
  before: Attempt,
  reply: Reply & { state: 'declined' },
  now: Date,
  { askedAt }: ReplyContext,
): Change {
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
    return failed(payment, attempt, reply.reason, now)
  const state = before.state === 'disputed' ? 'disputed' : 'pending'
  const events = isSame ? [] : [event('attempt_declined', 'provider', attempt, reasons[reply.reason], now)]
  return { payment, attempt: { ...attempt, state, step: null }, events, tasks: [] }
}

const isSameDecline = (before: Attempt, { psp_response_msg, psp_response_code, provider_time }: ReplyFacts) =>
  (psp_response_msg ?? before.psp_response_msg) === before.psp_response_msg &&
  (psp_response_code ?? before.psp_response_code) === before.psp_response_code &&
  (provider_time?.getTime() ?? before.provider_time?.getTime()) === before.provider_time?.getTime()

type PendingReply = Reply & { state: 'pending' }

// A step is asked for by the answer to a question, and that may be older than what the customer has typed since: then the
// customer is not asked for the same again.
function pending(
  payment: Payment,
  before: Attempt,
  reply: PendingReply,
  now: Date,
  { submits }: ReplyContext,
): Change {
  if (!isUnresolved(before)) return { payment, attempt: before, events: [], tasks: [] }
  const { redirect_url = before.redirect_url, qr = before.qr } = reply
  const isOld = submits !== before.submits
  const step = before.state === 'disputed' ? null : isOld ? before.step : (reply.step ?? null)
  const state = before.state === 'disputed' ? 'disputed' : step ? 'needs_input' : 'pending'
  const attempt: Attempt = { ...withReply(before, reply, now), state, step, redirect_url, qr }
  const isNews = before.state !== state
  const kind = state === 'needs_input' ? 'attempt_needs_input' : 'attempt_pending'
  const events = isNews ? [event(kind, 'provider', attempt, step?.name ?? '', now)] : []
  return { payment, attempt, events, tasks: [] }
}

// Nothing has left us. That is known of the sending that was asked about, and of those before it: there is another only
// after one that has not left. It says nothing where one may have arrived all the same.
function notSent(payment: Payment, before: Attempt, words: string, now: Date, worth: ReplyContext): Change {
  if (!isOnlySending(before, worth)) return unclear(payment, before, words, now)
  const attempt: Attempt = { ...before, updated_at: now }
  if (isOverForSending(payment, before, now)) return failed(payment, attempt, 'not_sent', now)
  const isNews = before.state !== 'not_sent' && worth.sends === 1
  const events = isNews ? [event('attempt_not_sent', 'provider', before, words, now)] : []
  return { payment, attempt: { ...attempt, state: 'not_sent' }, events, tasks: [] }
}

// Nobody was asked, so nothing is known. A person has to set the account up again.
function notSetUp(payment: Payment, before: Attempt, words: string, now: Date): Change {
  const change = unclear(payment, before, words, now)
  return { ...change, tasks: [task(payment, before, 'not_set_up', dueOf(payment), words, now)] }
}

// Nothing was said about this order; but money may have moved where nobody looks for it.
function otherOrder(payment: Payment, before: Attempt, words: string, now: Date): Change {
  const change = unclear(payment, before, words, now)
  return { ...change, tasks: [task(payment, before, 'other_order', dueOf(payment), words, now)] }
}

// No clear answer leaves things as they are, to be asked again. That the first answer is missing is worth noting.
function unclear(payment: Payment, before: Attempt, words: string, now: Date): Change {
  if (before.state !== 'started') return { payment, attempt: before, events: [], tasks: [] }
  const attempt: Attempt = { ...before, state: 'unknown', updated_at: now }
  return { payment, attempt, events: [event('attempt_unknown', 'provider', attempt, words, now)], tasks: [] }
}

// A no to what the customer has given up is no failure of the payment: it stays open, for the customer to go on.
export function failed(
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

function paid(payment: Payment, before: Attempt, now: Date): Change {
  const attempt: Attempt = { ...ended(before, now), state: 'paid', reason: null }
  const events = [event('attempt_paid', 'provider', attempt, '', now)]
  const late = payment.status !== 'awaiting_payment'
  const moved = move(payment, 'paid', late ? 'The money arrived late.' : '', now)
  if (!moved) {
    events.push(event('overpaid', 'provider', attempt, 'The payment was already paid.', now))
    const note = 'A second success for one payment.'
    return { payment, attempt, events, tasks: [task(payment, attempt, 'refund', dueOf(payment), note, now)] }
  }
  const after: Payment = { ...withAttempt(moved, attempt), ...paidFacts(attempt, now), late }
  events.push(statusEvent(payment, after, 'provider', attempt, now))
  return { payment: after, attempt, events, tasks: [] }
}

const paidFacts = ({ attempt_id, charged }: Attempt, now: Date) => ({
  payment_time: now,
  charged,
  paid_attempt_id: attempt_id,
})

// Another amount than we asked for is never `paid`. A failed attempt stays failed, since the customer may be trying
// again by now; the alarm is raised either way.
function disputed(payment: Payment, before: Attempt, reply: Pick<Task, 'amount' | 'currency'>, now: Date) {
  const words = `The provider says ${reply.currency} ${figureIn(reply.amount, reply.currency)} where ${payment.currency} ${figureIn(payment.total, payment.currency)} was asked for.`
  const attempt: Attempt = isUnresolved(before) ? { ...before, state: 'disputed', step: null } : before
  const tasks = [task(payment, attempt, 'amount_mismatch', reply, words, now)]
  return { payment, attempt, events: [event('attempt_disputed', 'provider', attempt, words, now)], tasks }
}

// A yes by a reference that has paid another attempt: the same money does not pay twice.
export function referenceTaken(
  payment: Payment,
  before: Attempt,
  { reference, holder }: { reference: string; holder: string }, // what it has paid
  now: Date,
): Change {
  const words = `Its reference ${reference} has paid another attempt already.`
  const isNews = isUnresolved(before) && before.state !== 'disputed'
  const attempt: Attempt = {
    ...acknowledged(before, true, now),
    state: isNews ? 'disputed' : before.state,
    step: null,
    updated_at: now,
  }
  attempt.next_poll_at = nextPoll(attempt, now)
  const events = isNews ? [event('attempt_doubted', 'provider', attempt, words, now)] : []
  const note = `The provider says paid by the reference ${reference}, which has paid ${holder} already.`
  const tasks = [task(payment, attempt, 'reference_taken', dueOf(payment), note, now)]
  return { payment, attempt, events, tasks }
}

// An unreadable amount is kept in the note alone. The task is raised once, however often the provider repeats it.
function paidMismatch(
  payment: Payment,
  before: Attempt,
  reply: SanitizedReply & { state: 'paid_mismatch' },
  now: Date,
) {
  const words = `${reply.words} ${payment.currency} ${figureIn(payment.total, payment.currency)} was asked for.`
  const isNews = isUnresolved(before) && before.state !== 'disputed'
  const state = isNews ? 'disputed' : before.state
  const attempt: Attempt = { ...withReply(before, reply, now), state, step: null }
  const events = isNews ? [event('attempt_disputed', 'provider', attempt, words, now)] : []
  const tasks = [task(payment, attempt, 'amount_mismatch', dueOf(payment), words, now)]
  return { payment, attempt, events, tasks }
}

function withReply(attempt: Attempt, reply: ReplyFacts, now: Date): Attempt {
  return {
    ...acknowledged(attempt, true, now),
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

const dueOf = ({ total, currency }: Payment) => ({ amount: total, currency })

// What the customer gave, and was told meanwhile, is not needed any more.
const ended = (attempt: Attempt, now: Date): Attempt => ({
  ...attempt,
  given: {},
  step: null,
  provider_text: null,
  updated_at: now,
  ended_at: now,
})

// What a status check tells of the attempt that counts.
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
