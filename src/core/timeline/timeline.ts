import type { Attempt } from '../payment/attempt.ts'
import type { Cause, EventKind, PaymentEvent, Task } from '../payment/change.ts'
import { isReopening } from '../payment/expiry.ts'
import type { Lang } from '../languages/languages.ts'
import { fill } from '../text.ts'
import { type NextStep, nextSteps } from './nextSteps.ts'
import { moneyText, type PaymentHistory, methodAndInstrument, maskKnownNumbers } from './history.ts'
import { storedText } from './storedSentences.ts'
import { type TimelineTexts, timelineTexts } from './timelineTexts.ts'

// How a page marks an event: done, a failure, or something that an operator may have to look at.
export type MomentMark = 'done' | 'no' | 'late'

// One event: when, reported by whom, and what happened.
// `words` is the field name in the JSON of the command line.
export type Moment = { at: Date; who: string; words: string; mark: MomentMark }
export type Timeline = { moments: Moment[]; next: NextStep[] }

// Explains the status of a payment, in plain sentences. Commands and /support show the English ones.
export function timeline(history: PaymentHistory, now: Date, lang: Lang = 'en'): Timeline {
  const { payment, merchant, events } = history
  const texts = timelineTexts[lang]
  const money = moneyText(payment.currency, payment.total)
  const request = fill(texts.requested, { shop: merchant.name, money })
  const moments = [
    { at: payment.created_at, who: texts.causes.merchant, words: request, mark: 'done' as const },
    ...withTasks(
      events.map(event => momentOf(history, event, lang)),
      history,
      lang,
    ),
  ]
  return {
    moments: moments.map(moment => ({ ...moment, words: maskKnownNumbers(moment.words, history) })),
    next: nextSteps(history, now, lang).map(step => ({
      ...step,
      words: maskKnownNumbers(step.words, history),
    })),
  }
}

function momentOf(history: PaymentHistory, event: PaymentEvent, lang: Lang): Moment {
  const attempt = history.attempts.find(({ attempt_id }) => attempt_id === event.attempt_id)
  const told = { ...event, reason: storedText(event.reason, lang) }
  const text = sentenceOf({ ...history, event: told, attempt, texts: timelineTexts[lang] })
  return {
    at: event.at,
    who: reporter(event.cause, timelineTexts[lang], attempt),
    words: text,
    mark: markOf(event),
  }
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

const reporter = (cause: Cause, { causes, providerAccount }: TimelineTexts, attempt?: Attempt) =>
  cause === 'provider' && attempt
    ? fill(providerAccount, { account: attempt.provider_account })
    : causes[cause]

type EventContext = PaymentHistory & { event: PaymentEvent; attempt?: Attempt; texts: TimelineTexts }

function sentenceOf(context: EventContext): string {
  const { event, attempt, texts } = context
  const { kind, cause, reason } = event
  const values = valuesOf(context)
  const told = (template: string) => join(fill(template, values), reason, texts)
  switch (kind) {
    case 'status_changed':
      return statusSentence(event, texts)
    case 'attempt_started':
      return fill(cause === 'merchant' ? texts.startedByShop : texts.events.attempt_started, values)
    case 'attempt_failed':
      return cause === 'operator'
        ? fill(texts.gaveUpByOperator, values)
        : told(texts.events.attempt_failed) + code('failed', texts, attempt)
    case 'attempt_paid':
      return fill(texts.events.attempt_paid, values) + code('paid', texts, attempt)
    case 'refund_succeeded':
      return told(cause === 'operator' ? texts.refundRecorded : texts.events.refund_succeeded)
    case 'attempt_pending':
    case 'attempt_resent':
    case 'cancel_wished':
    case 'overpaid':
    case 'receipt_resent':
      return fill(texts.events[kind], values) // the sentence says what the reason does
    default: {
      const template: string | undefined = texts.events[kind] // undefined: a newer version wrote the event
      return template === undefined ? join(kind.replaceAll('_', ' '), reason, texts) : told(template)
    }
  }
}

function valuesOf({ event, attempt, payment, tasks, texts }: EventContext) {
  const number = nth(texts, attempt)
  return {
    attempt: number,
    how: attempt ? fill(texts.how, { method: methodAndInstrument(attempt), attempt: number }) : number,
    money: moneyText(payment.currency, attempt?.charged ?? payment.total),
    reference: attempt?.provider_ref ? fill(texts.reference, { reference: attempt.provider_ref }) : '',
    task: taskClosedBy(tasks, event, texts),
    medium: event.reason === 'sms' ? texts.media.sms : texts.media.email,
  }
}

function statusSentence(event: PaymentEvent, texts: TimelineTexts): string {
  const { from_status, to_status, reason } = event
  const from = { status: from_status ? texts.statuses[from_status] : String(from_status) }
  if (isReopening(event)) return fill(texts.reopened, from)
  if (to_status === 'awaiting_payment') return texts.openAgain
  if (to_status !== 'paid') {
    const status = to_status ? texts.statuses[to_status] : String(to_status)
    return join(fill(texts.events.status_changed, { status }), reason, texts)
  }
  return from_status === 'awaiting_payment' ? texts.paid : fill(texts.paidLate, from)
}

const nth = (texts: TimelineTexts, attempt?: Attempt) =>
  attempt ? fill(texts.attempt, { number: attempt.number }) : texts.unknownAttempt
const join = (text: string, reason: string, { withReason }: TimelineTexts) =>
  reason ? fill(withReason, { text, reason }) : text

// The attempt has only the provider's last code, which may not belong to an earlier answer.
function code(state: Attempt['state'], texts: TimelineTexts, attempt?: Attempt): string {
  if (!attempt || attempt.state !== state) return ''
  const { psp_response_code, psp_response_msg, provider_code } = attempt
  const codes = psp_response_code ? [join(psp_response_code, psp_response_msg ?? '', texts)] : []
  if (state === 'failed' && provider_code && provider_code !== psp_response_code) codes.push(provider_code)
  return codes.length > 0 ? fill(texts.code, { code: codes.join('; ') }) : ''
}

// The event has the note and the task has the kind. Both were saved with the same time.
function taskClosedBy(
  tasks: readonly Task[],
  { at, attempt_id }: PaymentEvent,
  texts: TimelineTexts,
): string {
  const task = tasks.find(one => one.attempt_id === attempt_id && one.closed_at?.getTime() === at.getTime())
  if (!task) return texts.task
  return fill(texts.taskOfKind, { kind: texts.taskKinds[task.kind] ?? task.kind })
}

// Some tasks have no event of the payment. They are added to the timeline at the time at which they were opened.
function withTasks(moments: Moment[], { tasks, attempts }: PaymentHistory, lang: Lang): Moment[] {
  const texts = timelineTexts[lang]
  const sentences: Partial<Record<Task['kind'], string>> = texts.tasks
  const all = [...moments]
  for (const { kind, attempt_id, created_at, note } of tasks) {
    const what = sentences[kind]
    if (!what) continue
    const attempt = attempts.find(one => one.attempt_id === attempt_id)
    const opened = fill(texts.taskOpened, { text: fill(what, { attempt: nth(texts, attempt) }) })
    const text = note ? `${opened}. ${storedText(note, lang)}` : opened
    const later = all.findIndex(({ at }) => at > created_at)
    const moment = { at: created_at, who: texts.causes.clock, words: text, mark: 'late' as const }
    all.splice(later < 0 ? all.length : later, 0, moment)
  }
  return all
}
