import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import type { Task } from '../payment/change.ts'
import { decideReopen } from '../payment/expiry.ts'
import { type Obstacle, obstacle, secondsToWait } from '../payment/mayStart.ts'
import { overdueAfterMs } from '../payment/pollSchedule.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'
import type { Refund } from '../refund/refund.ts'
import { moneyText, type PaymentHistory } from './history.ts'

// What happens next. `at` is null if the time is unknown.
export type NextStep = { words: string; at: Date | null }

// First the open tasks, then the scheduled polls, then what becomes of the payment.
export function nextSteps(history: PaymentHistory, now: Date): NextStep[] {
  const open = history.tasks.filter(({ closed_at }) => closed_at === null)
  const polls = [
    ...history.attempts.flatMap(attempt => pollStep(attempt, now)),
    ...history.refunds.flatMap(refund => refundStep(refund, now)),
  ]
  const rest = [...paymentSteps(history, now), ...shopSteps(history, now)]
  return joinSteps([...open.map(taskStep), ...polls], rest)
}

// After other steps, a step that says "nothing" says "nothing else".
export const joinSteps = (first: readonly NextStep[], rest: readonly NextStep[]): NextStep[] =>
  first.length === 0
    ? [...rest]
    : [...first, ...rest.map(({ at, words }) => ({ at, words: words.replace(/^Nothing:/, 'Nothing else:') }))]

function taskStep({ kind, amount, currency, note }: Task): NextStep {
  const what = {
    refund: `a refund of ${moneyText(currency, amount)} is open`,
    amount_mismatch: note || `the provider took ${moneyText(currency, amount)}`,
    unresolved: 'the outcome of the attempt has been unknown for a day',
    other_order: note,
    reference_taken: note,
    reversed: `the provider refunded ${moneyText(currency, amount)}. ${note}`,
    dispute_opened: `the customer's bank disputes ${moneyText(currency, amount)}. ${note}`,
    dispute_lost: `a dispute over ${moneyText(currency, amount)} was lost. ${note}`,
    not_set_up: note,
    account_refused: note,
    unknown_code: `the provider refuses with the code ${note}, which is unknown`,
    refund_needs_action: note,
    refund_unclear: note,
    refund_exceeds: note,
    not_recorded: `the answer of the provider could not be stored. ${note}`,
  }[kind]
  return { at: null, words: `An operator has to look: ${what}` }
}

function pollStep(attempt: Attempt, now: Date): NextStep[] {
  const { next_poll_at, polls, payment_method, number } = attempt
  if (!next_poll_at) return []
  const at = next_poll_at > now ? next_poll_at : now
  if (attempt.state === 'paid') return [{ at, words: `We ask for refunds and disputes of attempt ${number}` }]
  if (!isUnresolved(attempt))
    return [{ at, words: `We ask again about attempt ${number}, in case its failure is reversed` }]
  if (attempt.state === 'not_sent' && !attempt.gave_up_at)
    return [{ at, words: `We try again to send attempt ${number} to ${paymentMethodName(payment_method)}` }]
  const times = polls === 0 ? 'not asked yet' : `asked ${polls === 1 ? 'once' : `${polls} times`} so far`
  return [
    {
      at,
      words: `We ask ${paymentMethodName(payment_method)} for the status of attempt ${number} (${times})`,
    },
  ]
}

function refundStep(refund: Refund, now: Date): NextStep[] {
  const { next_poll_at, amount, currency, provider_account, state, sent_at } = refund
  if (!next_poll_at) return []
  const at = next_poll_at > now ? next_poll_at : now
  const what = `the refund of ${moneyText(currency, amount)}`
  if (state === 'failed')
    return [{ at, words: `We ask again about ${what}, in case its failure is reversed` }]
  const isUnsent = state === 'requested' && sent_at === null
  return [
    {
      at,
      words: isUnsent ? `We send ${what} to ${provider_account}` : `We ask ${provider_account} about ${what}`,
    },
  ]
}

function paymentSteps(history: PaymentHistory, now: Date): NextStep[] {
  const { payment, attempts, merchant } = history
  if (payment.status === 'paid') return [step('Nothing: paid is final')]
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) return unresolvedSteps(history, unresolved)
  if (payment.status === 'cancelled') return [step('Nothing: the customer cancelled')]
  const against = obstacle(payment, attempts, merchant, now)
  return payment.status === 'failed'
    ? failedSteps(history, against, now)
    : awaitingSteps(history, against, now)
}

// A direct payment is not opened again, because it has no page.
function shopSteps(history: PaymentHistory, now: Date): NextStep[] {
  const { payment, merchant } = history
  if (payment.pymt_instrument || !decideReopen(payment, history, merchant, now)) return []
  return [step('If the shop sends the same request again, the payment opens again')]
}

function unresolvedSteps(
  { payment, tasks }: PaymentHistory,
  { number, state, created_at, attempt_id, gave_up_at }: Attempt,
): NextStep[] {
  const otherwise = payment.cancel_requested_at
    ? 'becomes cancelled'
    : gave_up_at
      ? 'stays open, for the customer to go on'
      : 'becomes failed'
  if (state === 'disputed')
    return [step(`Closing the task gives attempt ${number} up, and the payment ${otherwise}`)]
  if (state === 'not_sent' && !gave_up_at)
    return [
      step(`Nothing was sent yet: attempt ${number} fails if it cannot be sent within a minute of its start`),
    ]
  const hasTask = tasks.some(task => task.attempt_id === attempt_id && task.kind === 'unresolved')
  const overdueAt = new Date(created_at.getTime() + overdueAfterMs)
  const taskOpens: NextStep = { at: overdueAt, words: 'A task is opened if the outcome is still unknown' }
  const ends =
    payment.cancel_requested_at || gave_up_at
      ? `When attempt ${number} ends without success the payment ${otherwise}; if the money arrives, paid`
      : `Success makes the payment paid, failure failed; it does not expire while attempt ${number} is open`
  return [...(hasTask ? [] : [taskOpens]), step(ends)]
}

function awaitingSteps({ payment }: PaymentHistory, against: Obstacle | undefined, now: Date): NextStep[] {
  const { expires_at } = payment
  if (against === 'expired') return [{ at: now, words: 'The time is over: the payment becomes failed' }]
  const expiry = 'The checkout expires, and the payment becomes failed'
  if (against === 'closed')
    return [step('The shop is deactivated, so no payment is possible now'), { at: expires_at, words: expiry }]
  return [{ at: expires_at, words: `${expiry}; until then the customer may pay` }]
}

function failedSteps(
  { payment, attempts }: PaymentHistory,
  against: Obstacle | undefined,
  now: Date,
): NextStep[] {
  const end: NextStep = {
    at: payment.expires_at,
    words: 'The checkout expires; until then the customer may try again',
  }
  if (against === undefined) return [end]
  if (against === 'too_soon') {
    const at = new Date(now.getTime() + secondsToWait(attempts, now) * 1000)
    return [{ at, words: 'The next try is accepted; each failure makes the wait a little longer' }, end]
  }
  return [step(`Nothing: ${ended[against]}`)]
}

// Why a failed payment stays failed. Some of these cannot occur and are here for the compiler.
const ended: Record<Exclude<Obstacle, 'too_soon'>, string> = {
  expired: 'the time to pay is over',
  no_retry: 'this shop allows no retry after a failure',
  too_many: 'the maximum number of attempts was made',
  closed: 'the shop is deactivated',
  cancelled: 'the customer cancelled',
  unresolved: 'an attempt is on its way',
  paid: 'paid is final',
}

const step = (text: string): NextStep => ({ at: null, words: text })
