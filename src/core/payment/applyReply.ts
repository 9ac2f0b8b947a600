import type { Heard, Reply, ReplyFacts } from '../channel/channel.ts'
import { type Reason, reasons } from '../channel/reason.ts'
import { maskInstrument } from '../mask.ts'
import { formatMoney } from '../money.ts'
import { type Attempt, isAcknowledged, isUnresolved, requestEndsAt } from './attempt.ts'
import { type Change, event, statusEvent, task } from './change.ts'
import type { Cause } from './event.ts'
import { move, type Payment } from './payment.ts'
import { nextPoll, resendForMs, worryAfterMs } from './pollSchedule.ts'
import { isOverForSending } from './sendAgain.ts'

// What a reply is worth: how long the channel lets an absent order be one that is not in sight yet or can still be paid,
// how long what was sent lives, and how often the order had been sent when we asked.
export type Worth = { absentForMs: number; livesForMs: number | undefined; sends: number }

// A channel replied to a question of ours about an attempt: what follows. Safe to call again with the same reply.
export function applyReply(
  payment: Payment,
  attempt: Attempt,
  reply: Heard,
  now: Date,
  worth: Worth,
): Change {
  const change = decide(payment, attempt, reply, now, worth)
  const { created_at } = attempt
  const wasClear = !unclearStates.has(reply.state)
  const endsAt = worth.livesForMs === undefined ? undefined : requestEndsAt(attempt, worth.livesForMs)
  const next_ask_at = nextPoll(change.attempt, now, { wasClear, endsAt })
  if (isUnresolved(change.attempt) && now.getTime() - created_at.getTime() >= worryAfterMs)
    change.tasks.push(task(payment, change.attempt, 'unresolved', dueOf(payment), '', now))
  return { ...change, attempt: { ...change.attempt, next_ask_at } }
}

// Whoever knocked, or asked, after the question that this answers has set a time to ask again: it stands, because the
// answer may be older than what they know of.
export function withTheirTime(
  after: Attempt,
  before: Attempt,
  asked: Pick<Attempt, 'asks' | 'next_ask_at'>, // as it was when we asked
): Attempt {
  const isOurs = before.asks === asked.asks && before.next_ask_at?.getTime() === asked.next_ask_at?.getTime()
  return isOurs || after.state === 'paid' ? after : { ...after, next_ask_at: before.next_ask_at }
}

const unclearStates = new Set<Heard['state']>(['unknown', 'not_sent', 'other_order'])

function decide(payment: Payment, before: Attempt, reply: Heard, now: Date, worth: Worth): Change {
  const same = { payment, attempt: before, events: [], tasks: [] }
  if (before.state === 'paid') return same
  switch (reply.state) {
    case 'paid': {
      const attempt = withReply({ ...before, charged: reply.amount }, reply, now)
      const asked = reply.amount === payment.total && reply.currency === payment.currency
      if (asked) return paid(payment, attempt, now)
      return reply.amount === before.charged ? { ...same, attempt } : disputed(payment, attempt, reply, now)
    }
    case 'paid_oddly':
      return paidOddly(payment, before, reply, now)
    case 'failed':
      return isUnresolved(before) ? failed(payment, withReply(before, reply, now), reply.reason, now) : same
    case 'pending':
      return pending(payment, before, reply, now)
    case 'absent':
      return isUnheardOf(before) && isLongAbsent(before, worth, now)
        ? failed(payment, { ...before, updated_at: now }, 'never_arrived', now)
        : unclear(payment, before, 'The provider does not know this attempt.', now)
    case 'not_sent':
      return notSent(payment, before, reply.words, now, worth)
    case 'other_order':
      return otherOrder(payment, before, reply.words, now)
    default:
      return unclear(payment, acknowledged(before, reply.acknowledged === true, now), reply.words, now)
  }
}

// The provider has never shown that it has the order of this attempt.
const isUnheardOf = (attempt: Attempt) => isUnresolved(attempt) && !isAcknowledged(attempt)

// What was sent again was so within this time.
const isLongAbsent = ({ created_at, sends }: Attempt, { absentForMs }: Worth, now: Date) =>
  now.getTime() - created_at.getTime() >= absentForMs + (sends > 1 ? resendForMs : 0)

// Who shows that it has what we think never left is right about that.
function acknowledged(attempt: Attempt, isSo: boolean, now: Date): Attempt {
  if (!isSo || attempt.acknowledged_at) return attempt
  return { ...attempt, acknowledged_at: now, state: attempt.state === 'not_sent' ? 'unknown' : attempt.state }
}

function pending(payment: Payment, before: Attempt, reply: Reply & { state: 'pending' }, now: Date) {
  if (!isUnresolved(before)) return { payment, attempt: before, events: [], tasks: [] }
  const { redirect_url = before.redirect_url, qr = before.qr } = reply
  const isNews = before.state !== 'pending' && before.state !== 'disputed'
  const state = isNews ? 'pending' : before.state
  const attempt: Attempt = { ...withReply(before, reply, now), state, redirect_url, qr }
  const events = isNews ? [event('attempt_pending', 'channel', attempt, '', now)] : []
  return { payment, attempt, events, tasks: [] }
}

// Nothing has left us. That is known of the sending that was asked about, and of those before it: there is another only
// after one that has not left. It says nothing where one may have arrived all the same.
function notSent(payment: Payment, before: Attempt, words: string, now: Date, { sends }: Worth): Change {
  if (!isUnheardOf(before) || before.resent_at || before.sends !== sends)
    return unclear(payment, before, words, now)
  const attempt: Attempt = { ...before, updated_at: now }
  if (isOverForSending(payment, before, now)) return failed(payment, attempt, 'not_sent', now)
  const isNews = before.state !== 'not_sent' && sends === 1
  const events = isNews ? [event('attempt_not_sent', 'channel', before, words, now)] : []
  return { payment, attempt: { ...attempt, state: 'not_sent' }, events, tasks: [] }
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
  return { payment, attempt, events: [event('attempt_unknown', 'channel', attempt, words, now)], tasks: [] }
}

// A no to what the customer has given up is no failure of the payment: it stays open, for the customer to go on.
export function failed(
  payment: Payment,
  before: Attempt,
  reason: Reason,
  now: Date,
  cause: Cause = 'channel',
): Change {
  const attempt: Attempt = { ...ended(before, now), state: 'failed', reason }
  const events = [event('attempt_failed', cause, attempt, reasons[reason], now)]
  if (payment.status !== 'awaiting_payment') return { payment, attempt, events, tasks: [] }
  const after = withAttempt(payment, attempt)
  const moved = payment.cancel_wished_at
    ? move(after, 'cancelled', reasons.cancelled, now)
    : attempt.gave_up_at
      ? undefined
      : move(after, 'failed', reasons[reason], now)
  if (moved) events.push(statusEvent(payment, moved, cause, attempt, now))
  return { payment: moved ?? after, attempt, events, tasks: [] }
}

function paid(payment: Payment, before: Attempt, now: Date): Change {
  const attempt: Attempt = { ...ended(before, now), state: 'paid', reason: null }
  const events = [event('attempt_paid', 'channel', attempt, '', now)]
  const late = payment.status !== 'awaiting_payment'
  const moved = move(payment, 'paid', late ? 'The money arrived late.' : '', now)
  if (!moved) {
    events.push(event('overpaid', 'channel', attempt, 'The payment was already paid.', now))
    const note = 'A second success for one payment.'
    return { payment, attempt, events, tasks: [task(payment, attempt, 'refund', dueOf(payment), note, now)] }
  }
  const after: Payment = { ...withAttempt(moved, attempt), late, payment_time: now, charged: attempt.charged }
  events.push(statusEvent(payment, after, 'channel', attempt, now))
  return { payment: after, attempt, events, tasks: [] }
}

// Another amount than we asked for is never `paid`. A failed attempt stays failed, since the customer may be trying
// again by now; the alarm is raised either way.
function disputed(payment: Payment, before: Attempt, reply: Reply & { state: 'paid' }, now: Date) {
  const words = `The provider says ${reply.currency} ${formatMoney(reply.amount)} where ${payment.currency} ${formatMoney(payment.total)} was asked for.`
  const attempt: Attempt = isUnresolved(before) ? { ...before, state: 'disputed' } : before
  const tasks = [task(payment, attempt, 'amount_mismatch', reply, words, now)]
  return { payment, attempt, events: [event('attempt_disputed', 'channel', attempt, words, now)], tasks }
}

// A yes by a reference that has paid another attempt: the same money does not pay twice.
export function doubt(
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
    updated_at: now,
  }
  attempt.next_ask_at = nextPoll(attempt, now)
  const events = isNews ? [event('attempt_doubted', 'channel', attempt, words, now)] : []
  const note = `The provider says paid by the reference ${reference}, which has paid ${holder} already.`
  const tasks = [task(payment, attempt, 'reference_taken', dueOf(payment), note, now)]
  return { payment, attempt, events, tasks }
}

// An amount that our books cannot hold stands in the words alone. The task is there once, however often it is said.
function paidOddly(payment: Payment, before: Attempt, reply: Heard & { state: 'paid_oddly' }, now: Date) {
  const words = `${reply.words} ${payment.currency} ${formatMoney(payment.total)} was asked for.`
  const isNews = isUnresolved(before) && before.state !== 'disputed'
  const attempt: Attempt = { ...withReply(before, reply, now), state: isNews ? 'disputed' : before.state }
  const events = isNews ? [event('attempt_disputed', 'channel', attempt, words, now)] : []
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
    updated_at: now,
  }
}

const dueOf = ({ total, currency }: Payment) => ({ amount: total, currency })

// What the customer gave is not needed any more.
const ended = (attempt: Attempt, now: Date): Attempt => ({
  ...attempt,
  given: {},
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
