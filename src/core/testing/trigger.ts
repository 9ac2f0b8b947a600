import { type Attempt, isUnresolved } from '../payment/attempt.ts'
import type { Payment } from '../payment/payment.ts'

// The outcomes that a merchant can trigger for a test payment, and what happens then.
export const triggerOutcomes = {
  paid: 'The customer approves within a second.',
  failed: 'The provider refuses the payment within a second.',
  declined: 'The customer declines on the phone within a second.',
  no_money: 'The wallet has not enough money.',
  no_answer: 'The customer does not answer. The payment waits until its request expires, after 5 minutes.',
  cancelled: 'The customer cancels on the checkout page.',
  expired: 'The time of the payment is over. It fails within seconds.',
  late: 'The payment expires, and then the provider reports it as paid. This takes a few seconds.',
  wrong_amount:
    'The provider reports another amount. The payment stays unpaid, and the operator gets a task.',
  paid_twice: 'Two attempts succeed. You get one paid notification, and the operator gets a task to refund.',
} as const

export type TriggerOutcome = keyof typeof triggerOutcomes
export const isTriggerOutcome = (text: string): text is TriggerOutcome => Object.hasOwn(triggerOutcomes, text)

// The last three digits of the wallet decide the outcome of an attempt: see the table in docs/sandbox.md.
const approved = '000'
const paidAfterWithdrawal = '011'
const lastDigits: Partial<Record<TriggerOutcome, string>> = {
  paid: approved,
  failed: '010',
  declined: '003',
  no_money: '002',
  no_answer: '099', // not in the table: it waits for a person
  late: paidAfterWithdrawal,
  wrong_amount: '009',
  paid_twice: paidAfterWithdrawal,
}

export type TriggerStep =
  | { do: 'pay'; number: number; lastDigits: string }
  | { do: 'give_up'; number: number }
  | { do: 'cancel' }
  | { do: 'expire' }
  | { do: 'advance'; ms: number } // the first attempt and its charge
  | { do: 'wait' } // for a worker or the provider
  | { do: 'nothing' } // the outcome is reached, or the payment has another history

type Subject = { payment: Pick<Payment, 'status' | 'expires_at'>; attempts: readonly Attempt[]; now: Date }

// By then the sandbox reports the withdrawn first attempt of `late` and `paid_twice` as paid.
const reversedAfterMs = 20_000

// The next step towards the outcome. It follows from the state of the payment alone, so a repeated trigger continues where
// a process that died has stopped, and changes nothing at the end.
export function nextTriggerStep(outcome: TriggerOutcome, subject: Subject): TriggerStep {
  const { payment, attempts } = subject
  const [first] = attempts
  if (first)
    return outcome === 'late' || outcome === 'paid_twice' ? afterFirst(outcome, subject, first) : nothing
  if (payment.status !== 'awaiting_payment') return nothing
  if (outcome === 'cancelled') return { do: 'cancel' }
  if (outcome === 'expired') return payment.expires_at > subject.now ? { do: 'expire' } : nothing
  return { do: 'pay', number: 1, lastDigits: lastDigits[outcome] ?? approved }
}

const nothing: TriggerStep = { do: 'nothing' }
const wait: TriggerStep = { do: 'wait' }

// The customer gives the first attempt up. It is withdrawn, which does not fail the payment. Then the payment expires, or a second
// attempt pays it; and then the provider reports that the first one was paid after all.
function afterFirst(
  outcome: 'late' | 'paid_twice',
  { payment, attempts, now }: Subject,
  first: Attempt,
): TriggerStep {
  if (first.state === 'paid') return nothing
  if (isUnresolved(first)) return first.gave_up_at ? wait : { do: 'give_up', number: first.number }
  const second = attempts[1]
  if (outcome === 'paid_twice' && !second) return { do: 'pay', number: 2, lastDigits: approved }
  if (second && isUnresolved(second)) return wait
  if (payment.status === 'awaiting_payment') return payment.expires_at > now ? { do: 'expire' } : wait
  const isReversed = first.ended_at !== null && now.getTime() - first.ended_at.getTime() >= reversedAfterMs
  return isReversed ? wait : { do: 'advance', ms: reversedAfterMs }
}
