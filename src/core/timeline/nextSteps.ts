import type { Lang } from '../languages/languages.ts'
import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import type { Task } from '../payment/change.ts'
import { decideReopen } from '../payment/expiry.ts'
import { type Obstacle, obstacle, secondsToWait } from '../payment/mayStart.ts'
import { overdueAfterMs } from '../payment/pollSchedule.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'
import type { Refund } from '../refund/refund.ts'
import { fill } from '../text.ts'
import { moneyText, type PaymentHistory } from './history.ts'
import { type NextStepTexts, nextStepTexts } from './nextStepTexts.ts'
import { storedText } from './storedSentences.ts'

// What happens next. `at` is null if the time is unknown.
export type NextStep = { words: string; at: Date | null }

// First the open tasks, then the scheduled polls, then what becomes of the payment.
export function nextSteps(history: PaymentHistory, now: Date, lang: Lang): NextStep[] {
  const texts = nextStepTexts[lang]
  const open = history.tasks.filter(({ closed_at }) => closed_at === null)
  const polls = [
    ...history.attempts.flatMap(attempt => pollStep(attempt, texts, now)),
    ...history.refunds.flatMap(refund => refundStep(refund, texts, now)),
  ]
  const rest = [...paymentSteps(history, texts, now), ...shopSteps(history, texts, now)]
  return joinSteps([...open.map(task => taskStep(task, lang)), ...polls], rest, lang)
}

// After other steps, a step that says "nothing" says "nothing else".
export function joinSteps(
  first: readonly NextStep[],
  rest: readonly NextStep[],
  lang: Lang = 'en',
): NextStep[] {
  if (first.length === 0) return [...rest]
  const [nothing, nothingElse] = [nextStepTexts[lang].nothing, nextStepTexts[lang].nothingElse].map(text =>
    fill(text, { reason: '' }),
  ) as [string, string]
  return [
    ...first,
    ...rest.map(({ at, words }) => ({
      at,
      words: words.startsWith(nothing) ? nothingElse + words.slice(nothing.length) : words,
    })),
  ]
}

function taskStep({ kind, amount, currency, note }: Task, lang: Lang): NextStep {
  const { task, tasks } = nextStepTexts[lang]
  const what = kind === 'amount_mismatch' && note === '' ? tasks.amountTaken : tasks[kind]
  const values = { money: moneyText(currency, amount), note: storedText(note, lang) }
  return { at: null, words: fill(task, { what: fill(what, values) }) }
}

function pollStep(attempt: Attempt, texts: NextStepTexts, now: Date): NextStep[] {
  const { next_poll_at, polls, payment_method, number } = attempt
  if (!next_poll_at) return []
  const at = next_poll_at > now ? next_poll_at : now
  const { never, once, often } = texts.polled
  const times = fill(polls === 0 ? never : polls === 1 ? once : often, { count: polls })
  const template =
    attempt.state === 'paid'
      ? texts.pollPaid
      : !isUnresolved(attempt)
        ? texts.pollFailed
        : attempt.state === 'not_sent' && !attempt.gave_up_at
          ? texts.sendAgain
          : texts.pollStatus
  return [
    { at, words: fill(template, { attempt: number, method: paymentMethodName(payment_method), times }) },
  ]
}

function refundStep(refund: Refund, texts: NextStepTexts, now: Date): NextStep[] {
  const { next_poll_at, amount, currency, provider_account, state, sent_at } = refund
  if (!next_poll_at) return []
  const at = next_poll_at > now ? next_poll_at : now
  const what = fill(texts.refund, { money: moneyText(currency, amount) })
  const isUnsent = state === 'requested' && sent_at === null
  const template =
    state === 'failed' ? texts.pollFailedRefund : isUnsent ? texts.sendRefund : texts.pollRefund
  return [{ at, words: fill(template, { what, account: provider_account }) }]
}

function paymentSteps(history: PaymentHistory, texts: NextStepTexts, now: Date): NextStep[] {
  const { payment, attempts, merchant } = history
  if (payment.status === 'paid') return [nothing(texts, 'paid')]
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) return unresolvedSteps(history, texts, unresolved)
  if (payment.status === 'cancelled') return [nothing(texts, 'cancelled')]
  const against = obstacle(payment, attempts, merchant, now)
  return payment.status === 'failed'
    ? failedSteps(history, texts, against, now)
    : awaitingSteps(history, texts, against, now)
}

// A direct payment is not opened again, because it has no page.
function shopSteps(history: PaymentHistory, texts: NextStepTexts, now: Date): NextStep[] {
  const { payment, merchant } = history
  if (payment.pymt_instrument || !decideReopen(payment, history, merchant, now)) return []
  return [step(texts.shopRepeats)]
}

function unresolvedSteps(
  { payment, tasks }: PaymentHistory,
  texts: NextStepTexts,
  { number, state, created_at, attempt_id, gave_up_at }: Attempt,
): NextStep[] {
  const { cancelled, open, failed } = texts.otherwise
  const otherwise = payment.cancel_requested_at ? cancelled : gave_up_at ? open : failed
  const values = { attempt: number, otherwise }
  if (state === 'disputed') return [step(fill(texts.closingGivesUp, values))]
  if (state === 'not_sent' && !gave_up_at) return [step(fill(texts.notSentYet, values))]
  const hasTask = tasks.some(task => task.attempt_id === attempt_id && task.kind === 'unresolved')
  const overdueAt = new Date(created_at.getTime() + overdueAfterMs)
  const ends = payment.cancel_requested_at || gave_up_at ? texts.endsOtherwise : texts.ends
  return [...(hasTask ? [] : [{ at: overdueAt, words: texts.taskOpens }]), step(fill(ends, values))]
}

function awaitingSteps(
  { payment }: PaymentHistory,
  texts: NextStepTexts,
  against: Obstacle | undefined,
  now: Date,
): NextStep[] {
  const { expires_at } = payment
  if (against === 'expired') return [{ at: now, words: texts.timeIsOver }]
  if (against === 'closed') return [step(texts.closedNow), { at: expires_at, words: texts.expires }]
  return [{ at: expires_at, words: texts.expiresMayPay }]
}

function failedSteps(
  { payment, attempts }: PaymentHistory,
  texts: NextStepTexts,
  against: Obstacle | undefined,
  now: Date,
): NextStep[] {
  const end: NextStep = { at: payment.expires_at, words: texts.expiresMayRetry }
  if (against === undefined) return [end]
  if (against === 'too_soon') {
    const at = new Date(now.getTime() + secondsToWait(attempts, now) * 1000)
    return [{ at, words: texts.nextTry }, end]
  }
  return [nothing(texts, against)]
}

const nothing = ({ nothing: template, reasons }: NextStepTexts, reason: keyof NextStepTexts['reasons']) =>
  step(fill(template, { reason: reasons[reason] }))

const step = (text: string): NextStep => ({ at: null, words: text })
