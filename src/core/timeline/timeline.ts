import type { Attempt } from '../payment/attempt.ts'
import type { Cause, EventKind, PaymentEvent, Task } from '../payment/change.ts'
import { isReopening } from '../payment/expiry.ts'
import { money, type PaymentHistory, wayAndInstrument, withoutNumbers } from './history.ts'
import { type Next, nextSteps } from './nextSteps.ts'

// One thing that happened: when, who said so, and what.
export type Moment = { at: Date; who: string; words: string }
export type Timeline = { moments: Moment[]; next: Next[] }

// Why a payment stands as it does, in plain words for an operator.
export function timeline(story: PaymentHistory, now: Date): Timeline {
  const { payment, merchant, events } = story
  const asked = `${merchant.name} asked for ${money(payment.currency, payment.total)}`
  const moments = [
    { at: payment.created_at, who: 'shop', words: asked },
    ...withWorries(
      events.map(event => momentOf(story, event)),
      story,
    ),
  ]
  return {
    moments: moments.map(moment => ({ ...moment, words: withoutNumbers(moment.words, story) })),
    next: nextSteps(story, now).map(step => ({ ...step, words: withoutNumbers(step.words, story) })),
  }
}

function momentOf(story: PaymentHistory, event: PaymentEvent): Moment {
  const attempt = story.attempts.find(({ attempt_id }) => attempt_id === event.attempt_id)
  const tell: Sentence | undefined = sentences[event.kind] // none: a newer node wrote it
  const words = tell?.({ ...story, event, attempt }) ?? join(event.kind.replaceAll('_', ' '), event.reason)
  return { at: event.at, who: whoSaid(event.cause, attempt), words }
}

const whoSaid = (cause: Cause, attempt?: Attempt) =>
  cause === 'merchant'
    ? 'shop'
    : cause === 'provider'
      ? `provider${attempt ? ` (${attempt.provider_account})` : ''}`
      : cause

type StoryEvent = PaymentHistory & { event: PaymentEvent; attempt?: Attempt }
type Sentence = (told: StoryEvent) => string

const sentences: Record<EventKind, Sentence> = {
  attempt_started: ({ event, attempt }) =>
    `${event.cause === 'merchant' ? "Started it with the customer's" : 'Chose'} ${how(attempt)}`,
  attempt_pending: () => "Has the request; the customer's answer is awaited",
  attempt_needs_input: ({ event }) => join('Waits for what the customer has to type', event.reason),
  attempt_submitted: ({ event }) => join('Typed what was asked for', event.reason),
  attempt_not_sent: ({ event, attempt }) =>
    join(`Could not be reached, so nothing of ${nth(attempt)} was sent; we try again`, event.reason),
  attempt_unknown: ({ event }) => join('No clear answer, so it is asked again', event.reason),
  attempt_resent: ({ attempt }) =>
    `Sent ${nth(attempt)} again under the same reference: the provider had not heard of it`,
  attempt_given_up: ({ event, attempt }) =>
    join(`Gave ${nth(attempt)} up; it counts if it is approved all the same`, event.reason),
  attempt_declined: ({ event }) =>
    join("A card was declined; the customer may try another on the provider's page", event.reason),
  attempt_failed: ({ event, attempt }) =>
    event.cause === 'operator'
      ? `Gave ${nth(attempt)} up`
      : `${join(`No to ${nth(attempt)}`, event.reason)}${code('failed', attempt)}`,
  attempt_paid: ({ attempt, payment }) =>
    `Yes to ${nth(attempt)}: ${money(payment.currency, attempt?.charged ?? payment.total)} taken${reference(attempt)}${code('paid', attempt)}`,
  attempt_disputed: ({ event }) => join('Yes, but to another amount', event.reason),
  attempt_doubted: ({ event }) => join('Yes, but not believed', event.reason),
  status_changed: ({ event }) => statusSentence(event),
  cancel_wished: ({ attempt }) =>
    `Cancelled while ${nth(attempt)} was on its way; the money may still arrive, so it is a wish for now`,
  overpaid: ({ attempt, payment }) =>
    `The payment was already paid: ${money(payment.currency, attempt?.charged ?? payment.total)} came on top, to be given back`,
  reversed: ({ event, attempt }) => join(`Refunded ${nth(attempt)}`, event.reason),
  dispute_opened: ({ event, attempt }) => join(`The customer's bank disputes ${nth(attempt)}`, event.reason),
  dispute_won: ({ event }) => join('The dispute was won: the money stays', event.reason),
  dispute_lost: ({ event }) =>
    join('The dispute was lost: the money went back to the customer', event.reason),
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
    : `The payment is paid, late: it was ${from_status}, but money outranks an earlier no`
}

const nth = (attempt?: Attempt) => `attempt ${attempt?.number ?? 'unknown'}`
const how = (attempt?: Attempt) => (attempt ? `${wayAndInstrument(attempt)} (${nth(attempt)})` : nth())
const reference = (attempt?: Attempt) => (attempt?.provider_ref ? `, reference ${attempt.provider_ref}` : '')
const join = (words: string, reason: string) => (reason ? `${words}: ${reason}` : words)

// The attempt has the provider's last code alone: it says nothing about an earlier answer.
function code(state: Attempt['state'], attempt?: Attempt): string {
  if (!attempt || attempt.state !== state) return ''
  const { psp_response_code, psp_response_msg, provider_code } = attempt
  const told = psp_response_code ? [join(psp_response_code, psp_response_msg ?? '')] : []
  if (state === 'failed' && provider_code && provider_code !== psp_response_code) told.push(provider_code)
  return told.length > 0 ? ` (code ${told.join('; ')})` : ''
}

// The event has the note, the task its kind; they were saved with one time.
function kindClosedBy(tasks: readonly Task[], { at, attempt_id }: PaymentEvent): string {
  const task = tasks.find(one => one.attempt_id === attempt_id && one.closed_at?.getTime() === at.getTime())
  return task ? `${task.kind} ` : ''
}

// That a person was called after a day of silence, or because an answer could not be written down or was for another
// order, is no event of the payment, but it belongs to the story.
const worries: Partial<Record<Task['kind'], (attempt: string) => string>> = {
  unresolved: attempt => `Nobody could say for a day how ${attempt} ended`,
  other_order: attempt => `A yes to our question about ${attempt} was for another order`,
  not_recorded: attempt => `An answer about ${attempt} could not be written down`,
  not_set_up: attempt => `The account of ${attempt} is not set up, so the provider was not asked`,
  unknown_code: attempt => `${attempt} was refused with an unknown code`,
}

function withWorries(moments: Moment[], { tasks, attempts }: PaymentHistory): Moment[] {
  const all = [...moments]
  for (const { kind, attempt_id, created_at, note } of tasks) {
    const what = worries[kind]?.(nth(attempts.find(one => one.attempt_id === attempt_id)))
    if (!what) continue
    const words = `${what}: a person was called${note ? `. ${note}` : ''}`
    const later = all.findIndex(({ at }) => at > created_at)
    all.splice(later < 0 ? all.length : later, 0, { at: created_at, who: 'clock', words })
  }
  return all
}
