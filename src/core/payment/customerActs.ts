import { reasons } from '../provider/reason.ts'
import type { ProviderTiming } from '../provider/provider.ts'
import { withAttempt } from './applyReply.ts'
import { type Attempt, type GaveUpFor, isUnresolved } from './attempt.ts'
import { type Cause, event, type NewEvent, statusEvent } from './change.ts'
import { move, type Payment } from './payment.ts'
import { defaultFirstPollMs, firstPollAfter } from './pollSchedule.ts'

// What a customer can do on the page of a payment: begin an attempt, submit the input of a step, give the attempt up, and
// cancel. Whether an attempt may begin is in mayStart.ts.

// The payment shows the new attempt from now on. A failed payment awaits its payment again.
export function decideBegin<P extends Payment>(
  payment: P,
  attempt: Attempt,
  cause: Cause,
): { payment: P; events: NewEvent[] } {
  const now = attempt.created_at
  const events = [event('attempt_started', cause, attempt, '', now)]
  const begun = withAttempt(payment, attempt)
  const moved = move(begun, 'awaiting_payment', '', now)
  if (moved) events.push(statusEvent(payment, moved, cause, attempt, now))
  return { payment: moved ?? { ...begun, updated_at: now }, events }
}

type OpenPayment = Pick<Payment, 'status' | 'cancel_requested_at'>

// How often a customer may submit a code, a voucher or another input of a step. Without a limit, the page relays every
// guess to the provider: a code of six digits would be found by trying. Five submissions of one attempt find it in one
// attempt of 200,000. The first wait is shorter than a person needs to read and type a code again. The later ones slow
// down a script and still let a person use all five within two minutes, before the code expires.
const submissionWaitsMs = [0, 5000, 15_000, 30_000, 60_000] // before the first submission, the second, ...

const maxSubmissions = submissionWaitsMs.length // of one attempt, over all its steps and nodes

export const submissionsLeft = ({ submits }: Pick<Attempt, 'submits'>): number =>
  Math.max(0, maxSubmissions - submits)

// Until the next submission; 0 if it may be made now. A submission in the future was stored before the clock was set
// back: it counts as made now.
export function submissionWaitMs(
  { submits, submitted_at }: Pick<Attempt, 'submits' | 'submitted_at'>,
  now: Date,
): number {
  const waitMs = submissionWaitsMs[submits] ?? 0
  const sinceMs = submitted_at ? Math.max(0, now.getTime() - submitted_at.getTime()) : Infinity
  return Math.max(0, waitMs - sinceMs)
}

export type Submission = { attempt: Attempt; step: string; events: NewEvent[] }
// The customer has to wait before the next submission; nothing was submitted.
export type TooSoon = { waitMs: number }

// The customer submits the input of a step. Undefined if no input is expected: the page is old, the form was sent twice,
// the payment was cancelled, or no submission is left. The step is closed before the input is sent, so that it is sent
// once; the provider's reply opens it again if the provider still asks for it.
export function decideSubmit(
  payment: OpenPayment,
  attempts: readonly Attempt[],
  { number, submits }: Pick<Attempt, 'number' | 'submits'>, // that the form was made for
  timing: ProviderTiming,
  now: Date,
): Submission | TooSoon | undefined {
  const open = attempts.find(isUnresolved)
  if (!open?.step || open.state !== 'needs_input' || open.gave_up_at) return undefined
  if (open.number !== number || open.submits !== submits) return undefined
  if (payment.status !== 'awaiting_payment' || payment.cancel_requested_at) return undefined
  if (submissionsLeft(open) === 0) return undefined
  const waitMs = submissionWaitMs(open, now)
  if (waitMs > 0) return { waitMs }
  const attempt: Attempt = {
    ...open,
    state: 'pending',
    step: null,
    submits: open.submits + 1,
    submitted_at: now,
    next_poll_at: new Date(now.getTime() + firstPollAfter(timing)),
    updated_at: now,
  }
  const step = open.step.name
  return { attempt, step, events: [event('attempt_submitted', 'customer', attempt, step, now)] }
}

type GiveUpDecision = { attempt: Attempt; events: NewEvent[] }

const giveUpReasons: Record<GaveUpFor, string> = {
  number: 'The number was wrong.',
  method: 'To pay by another method.',
}

// The customer continues without the attempt of this number. This is only a request: the attempt ends by the
// provider's reply, and a reply of paid still pays. Undefined if there is nothing to give up: the attempt has ended,
// another one is unresolved, it was given up before, or it is disputed.
export function decideGiveUp(
  payment: OpenPayment,
  attempts: readonly Attempt[],
  { number, gave_up_for }: { number: number; gave_up_for: GaveUpFor },
  now: Date,
): GiveUpDecision | undefined {
  const open = attempts.find(isUnresolved)
  if (!open || open.number !== number || open.gave_up_at || open.state === 'disputed') return undefined
  if (payment.status !== 'awaiting_payment' || payment.cancel_requested_at) return undefined
  // The process that stores this polls the provider at once; a worker does if that process has died.
  const next_poll_at = new Date(now.getTime() + defaultFirstPollMs)
  const attempt = { ...open, gave_up_at: now, gave_up_for, next_poll_at, updated_at: now }
  return {
    attempt,
    events: [event('attempt_given_up', 'customer', attempt, giveUpReasons[gave_up_for], now)],
  }
}

export type StatusDecision = { payment: Payment; events: NewEvent[] }

const cancelReasons: Partial<Record<Cause, string>> = {
  merchant: 'The shop cancelled.',
  operator: 'The operator cancelled.',
}

// The customer cancels, or the shop. While an attempt is unresolved this is only recorded: the money may be on its way.
export function decideCancel(
  payment: Payment,
  attempts: readonly Attempt[],
  now: Date,
  by: Cause = 'customer',
): StatusDecision | undefined {
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) {
    if (payment.cancel_requested_at || payment.status !== 'awaiting_payment') return undefined
    const requested = { ...payment, cancel_requested_at: now, updated_at: now }
    return { payment: requested, events: [event('cancel_wished', by, unresolved, '', now)] }
  }
  const moved = move(payment, 'cancelled', cancelReasons[by] ?? reasons.cancelled, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, by, null, now)] }
}
