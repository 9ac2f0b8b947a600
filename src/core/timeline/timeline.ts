import type { Attempt } from '../payment/attempt.ts'
import type { Cause, EventKind, PaymentEvent, Task } from '../payment/change.ts'
import { isReopening } from '../payment/expiry.ts'
import { type NextStep, nextSteps } from './nextSteps.ts'
import { moneyText, type PaymentHistory, methodAndInstrument, maskKnownNumbers } from './history.ts'

// How a page marks an event: done, a failure, or something that an operator may have to look at.
export type MomentMark = 'done' | 'no' | 'late'

// One event: when, reported by whom, and what happened.
// `words` is the field name in the JSON of the command line.
export type Moment = { at: Date; who: string; words: string; mark: MomentMark }
export type Timeline = { moments: Moment[]; next: NextStep[] }

// Explains the status of a payment to an operator, in plain sentences.
export function timeline(history: PaymentHistory, now: Date): Timeline {
  const { payment, merchant, events } = history
  const request = `${merchant.name} requested ${moneyText(payment.currency, payment.total)}`
  const moments = [
    { at: payment.created_at, who: 'shop', words: request, mark: 'done' as const },
    ...withTasks(
      events.map(event => momentOf(history, event)),
      history,
    ),
  ]
  return {
    moments: moments.map(moment => ({ ...moment, words: maskKnownNumbers(moment.words, history) })),
    next: nextSteps(history, now).map(step => ({ ...step, words: maskKnownNumbers(step.words, history) })),
  }
}

function momentOf(history: PaymentHistory, event: PaymentEvent): Moment {
  const attempt = history.attempts.find(({ attempt_id }) => attempt_id === event.attempt_id)
  const sentence: Sentence | undefined = sentences[event.kind] // undefined: a newer version wrote the event
  const text =
    sentence?.({ ...history, event, attempt }) ?? join(event.kind.replaceAll('_', ' '), event.reason)
  return { at: event.at, who: reporter(event.cause, attempt), words: text, mark: markOf(event) }
}

const marks: Partial<Record<EventKind, MomentMark>> = {
  attempt_failed: 'no',
  attempt_declined: 'no',
  dispute_lost: 'no',
  attempt_not_sent: 'late',
  attempt_unknown: 'late',
  attempt_given_up: 'late',
  attempt_disputed: 'late',
  attempt_doubted: 'late',
  cancel_wished: 'late',
  overpaid: 'late',
  reversed: 'late',
  dispute_opened: 'late',
  refund_unknown: 'late',
  refund_needs_action: 'late',
  refund_failed: 'no',
}

function markOf({ kind, to_status }: PaymentEvent): MomentMark {
  if (kind === 'status_changed') return to_status === 'failed' || to_status === 'cancelled' ? 'no' : 'done'
  return marks[kind] ?? 'done'
}

const reporter = (cause: Cause, attempt?: Attempt) =>
  cause === 'merchant'
    ? 'shop'
    : cause === 'provider'
      ? `provider${attempt ? ` (${attempt.provider_account})` : ''}`
      : cause

type EventContext = PaymentHistory & { event: PaymentEvent; attempt?: Attempt }
type Sentence = (context: EventContext) => string

const sentences: Record<EventKind, Sentence> = {
  attempt_started: ({ event, attempt }) =>
    `${event.cause === 'merchant' ? "Started it with the customer's" : 'Chose'} ${how(attempt)}`,
  attempt_pending: () => "Has the request; the customer's answer is awaited",
  attempt_needs_input: ({ event }) => join('Waits for input from the customer', event.reason),
  attempt_submitted: ({ event }) => join('Sent the input that was asked for', event.reason),
  attempt_not_sent: ({ event, attempt }) =>
    join(`Could not be reached, so nothing of ${nth(attempt)} was sent; we try again`, event.reason),
  attempt_unknown: ({ event }) => join('No clear answer, so it is asked again', event.reason),
  attempt_resent: ({ attempt }) =>
    `Sent ${nth(attempt)} again under the same reference: the provider did not have it`,
  attempt_given_up: ({ event, attempt }) =>
    join(`Gave ${nth(attempt)} up; it counts if it is approved after all`, event.reason),
  attempt_declined: ({ event }) =>
    join("A card was declined; the customer may try another on the provider's page", event.reason),
  attempt_failed: ({ event, attempt }) =>
    event.cause === 'operator'
      ? `Gave ${nth(attempt)} up`
      : `${join(`No to ${nth(attempt)}`, event.reason)}${code('failed', attempt)}`,
  attempt_paid: ({ attempt, payment }) =>
    `Yes to ${nth(attempt)}: ${moneyText(payment.currency, attempt?.charged ?? payment.total)} taken${reference(attempt)}${code('paid', attempt)}`,
  attempt_disputed: ({ event }) => join('Reported paid, but another amount', event.reason),
  attempt_doubted: ({ event }) => join('Reported paid, but not accepted', event.reason),
  status_changed: ({ event }) => statusSentence(event),
  cancel_wished: ({ attempt }) =>
    `Cancelled while ${nth(attempt)} was on its way; the payment becomes cancelled only if the attempt ends without success`,
  overpaid: ({ attempt, payment }) =>
    `The payment was already paid: ${moneyText(payment.currency, attempt?.charged ?? payment.total)} came in addition, to be refunded`,
  reversed: ({ event, attempt }) => join(`Refunded ${nth(attempt)}`, event.reason),
  dispute_opened: ({ event, attempt }) => join(`The customer's bank disputes ${nth(attempt)}`, event.reason),
  dispute_won: ({ event }) => join('The dispute was won: the money stays', event.reason),
  dispute_lost: ({ event }) =>
    join('The dispute was lost: the money went back to the customer', event.reason),
  refund_requested: ({ event }) => join('Requested a refund', event.reason),
  refund_pending: ({ event }) => join('Has the refund and works on it', event.reason),
  refund_unknown: ({ event }) => join('No clear answer about the refund, so it is asked again', event.reason),
  refund_needs_action: ({ event }) => join('The refund waits for an operator', event.reason),
  refund_succeeded: ({ event }) =>
    join(event.cause === 'operator' ? 'Recorded the refund as made' : 'Refunded', event.reason),
  refund_failed: ({ event }) => join('The refund failed', event.reason),
  reversal_was_refund: ({ event }) =>
    join('A reversal that was recorded before is the refund that was requested', event.reason),
  receipt_resent: ({ event }) => `Sent the receipt again by ${event.reason === 'sms' ? 'SMS' : 'email'}`,
  task_closed: ({ event, tasks }) => join(`Closed the ${kindClosedBy(tasks, event)}task`, event.reason),
}

function statusSentence(event: PaymentEvent): string {
  const { from_status, to_status, reason } = event
  if (isReopening(event)) return `Sent the same request again: the payment, which was ${from_status}, is open`
  if (to_status === 'awaiting_payment') return 'The payment is open again'
  if (to_status !== 'paid') return join(`The payment is ${to_status}`, reason)
  return from_status === 'awaiting_payment'
    ? 'The payment is paid'
    : `The payment is paid, late: it was ${from_status}, but money outranks an earlier failure or cancellation`
}

const nth = (attempt?: Attempt) => `attempt ${attempt?.number ?? 'unknown'}`
const how = (attempt?: Attempt) => (attempt ? `${methodAndInstrument(attempt)} (${nth(attempt)})` : nth())
const reference = (attempt?: Attempt) => (attempt?.provider_ref ? `, reference ${attempt.provider_ref}` : '')
const join = (text: string, reason: string) => (reason ? `${text}: ${reason}` : text)

// The attempt has only the provider's last code, which may not belong to an earlier answer.
function code(state: Attempt['state'], attempt?: Attempt): string {
  if (!attempt || attempt.state !== state) return ''
  const { psp_response_code, psp_response_msg, provider_code } = attempt
  const codes = psp_response_code ? [join(psp_response_code, psp_response_msg ?? '')] : []
  if (state === 'failed' && provider_code && provider_code !== psp_response_code) codes.push(provider_code)
  return codes.length > 0 ? ` (code ${codes.join('; ')})` : ''
}

// The event has the note and the task has the kind. Both were saved with the same time.
function kindClosedBy(tasks: readonly Task[], { at, attempt_id }: PaymentEvent): string {
  const task = tasks.find(one => one.attempt_id === attempt_id && one.closed_at?.getTime() === at.getTime())
  return task ? `${task.kind} ` : ''
}

// Some tasks have no event of the payment. They are added to the timeline at the time at which they were opened.
const taskSentences: Partial<Record<Task['kind'], (attempt: string) => string>> = {
  unresolved: attempt => `The outcome of ${attempt} was unknown for a day`,
  other_order: attempt => `The answer about ${attempt} was for another order`,
  not_recorded: attempt => `An answer about ${attempt} could not be stored`,
  not_set_up: attempt => `The account of ${attempt} is not set up, so the provider was not asked`,
  unknown_code: attempt => `${attempt} was refused with an unknown code`,
}

function withTasks(moments: Moment[], { tasks, attempts }: PaymentHistory): Moment[] {
  const all = [...moments]
  for (const { kind, attempt_id, created_at, note } of tasks) {
    const what = taskSentences[kind]?.(nth(attempts.find(one => one.attempt_id === attempt_id)))
    if (!what) continue
    const text = `${what}: a task was opened${note ? `. ${note}` : ''}`
    const later = all.findIndex(({ at }) => at > created_at)
    all.splice(later < 0 ? all.length : later, 0, { at: created_at, who: 'clock', words: text, mark: 'late' })
  }
  return all
}
