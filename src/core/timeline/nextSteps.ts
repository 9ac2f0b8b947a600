import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import type { Task } from '../payment/change.ts'
import { decideReopen } from '../payment/expiry.ts'
import { type Obstacle, obstacle, secondsToWait } from '../payment/mayStart.ts'
import { overdueAfterMs } from '../payment/pollSchedule.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'
import { money, type PaymentHistory } from './history.ts'

// What happens next; `at` is null where nobody can know when.
export type Next = { words: string; at: Date | null }

// What needs a person first, then what we do by ourselves, then what becomes of the payment.
export function nextSteps(story: PaymentHistory, now: Date): Next[] {
  const open = story.tasks.filter(({ closed_at }) => closed_at === null)
  const asks = story.attempts.flatMap(attempt => askStep(attempt, now))
  const others = [...open.map(taskStep), ...asks]
  const rest = [...paymentSteps(story, now), ...shopSteps(story, now)]
  return others.length === 0
    ? rest
    : [
        ...others,
        ...rest.map(({ at, words }) => ({ at, words: words.replace(/^Nothing:/, 'Nothing else:') })),
      ]
}

function taskStep({ kind, amount, currency, note }: Task): Next {
  const what = {
    refund: `a refund of ${money(currency, amount)} is open`,
    amount_mismatch: note || `the provider took ${money(currency, amount)}`,
    unresolved: 'the provider has not said for a day how the attempt ended',
    other_order: note,
    reference_taken: note,
    reversed: `the provider refunded ${money(currency, amount)}. ${note}`,
    dispute_opened: `the customer's bank disputes ${money(currency, amount)}. ${note}`,
    dispute_lost: `a dispute over ${money(currency, amount)} was lost. ${note}`,
    not_set_up: note,
    account_refused: note,
    unknown_code: `the provider refuses with the code ${note}, which we do not know`,
    not_recorded: `the provider answered, and it could not be written down. ${note}`,
  }[kind]
  return { at: null, words: `A person must look: ${what}` }
}

function askStep(attempt: Attempt, now: Date): Next[] {
  const { next_poll_at, polls: asks, payment_method, number } = attempt
  if (!next_poll_at) return []
  const at = next_poll_at > now ? next_poll_at : now
  if (attempt.state === 'paid') return [{ at, words: `We ask for refunds and disputes of attempt ${number}` }]
  if (!isUnresolved(attempt))
    return [{ at, words: `The no to attempt ${number} is asked about again, in case it turns into a yes` }]
  if (attempt.state === 'not_sent' && !attempt.gave_up_at)
    return [{ at, words: `We try again to send attempt ${number} to ${paymentMethodName(payment_method)}` }]
  const times = asks === 0 ? 'not asked yet' : `asked ${asks === 1 ? 'once' : `${asks} times`} so far`
  return [
    { at, words: `We ask ${paymentMethodName(payment_method)} how attempt ${number} stands (${times})` },
  ]
}

function paymentSteps(story: PaymentHistory, now: Date): Next[] {
  const { payment, attempts, merchant } = story
  if (payment.status === 'paid') return [step('Nothing: paid is final')]
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) return unresolvedSteps(story, unresolved)
  if (payment.status === 'cancelled') return [step('Nothing: the customer cancelled')]
  const against = obstacle(payment, attempts, merchant, now)
  return payment.status === 'failed' ? failedSteps(story, against, now) : awaitingSteps(story, against, now)
}

// Of a direct request nobody would be asked to pay.
function shopSteps(story: PaymentHistory, now: Date): Next[] {
  const { payment, merchant } = story
  if (payment.pymt_instrument || !decideReopen(payment, story, merchant, now)) return []
  return [step('If the shop sends the same request again, the payment is open again')]
}

function unresolvedSteps(
  { payment, tasks }: PaymentHistory,
  { number, state, created_at, attempt_id, gave_up_at }: Attempt,
): Next[] {
  const otherwise = payment.cancel_requested_at
    ? 'becomes cancelled'
    : gave_up_at
      ? 'stays open, for the customer to go on'
      : 'becomes failed'
  if (state === 'disputed')
    return [step(`Closing the task gives attempt ${number} up, and the payment ${otherwise}`)]
  if (state === 'not_sent' && !gave_up_at)
    return [
      step(`Nothing has left us: attempt ${number} fails if it cannot be sent within a minute of its start`),
    ]
  const worried = tasks.some(task => task.attempt_id === attempt_id && task.kind === 'unresolved')
  const worry = new Date(created_at.getTime() + overdueAfterMs)
  const called: Next = { at: worry, words: 'A person is called when nothing is known by then' }
  const ends =
    payment.cancel_requested_at || gave_up_at
      ? `When attempt ${number} ends without success the payment ${otherwise}; if the money arrives, paid`
      : `A yes makes the payment paid, a no failed; it does not expire while attempt ${number} is open`
  return [...(worried ? [] : [called]), step(ends)]
}

function awaitingSteps({ payment }: PaymentHistory, against: Obstacle | undefined, now: Date): Next[] {
  const { expires_at } = payment
  if (against === 'expired') return [{ at: now, words: 'The time is over: the payment becomes failed' }]
  const expiry = 'The checkout expires, and the payment becomes failed'
  if (against === 'closed')
    return [step('The shop is switched off, so nobody can pay now'), { at: expires_at, words: expiry }]
  return [{ at: expires_at, words: `${expiry}; until then the customer may pay` }]
}

function failedSteps(
  { payment, attempts }: PaymentHistory,
  against: Obstacle | undefined,
  now: Date,
): Next[] {
  const end: Next = {
    at: payment.expires_at,
    words: 'The checkout expires; until then the customer may try again',
  }
  if (against === undefined) return [end]
  if (against === 'too_soon') {
    const at = new Date(now.getTime() + secondsToWait(attempts, now) * 1000)
    return [{ at, words: 'The next try is taken; each failure makes it wait a little longer' }, end]
  }
  return [step(`Nothing: ${ended[against]}`)]
}

// Why a failed payment stays so. Those that cannot stand against one are here for the compiler.
const ended: Record<Exclude<Obstacle, 'too_soon'>, string> = {
  expired: 'the time to pay is over',
  no_retry: 'this shop takes one failure for the end',
  too_many: 'as many attempts as one payment may have were made',
  closed: 'the shop is switched off',
  cancelled: 'the customer cancelled',
  unresolved: 'an attempt is on its way',
  paid: 'paid is final',
}

const step = (words: string): Next => ({ at: null, words })
