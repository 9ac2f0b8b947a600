import type { Dispute } from '../provider/reply.ts'
import type { Attempt } from './attempt.ts'
import type { Payment, Status } from './payment.ts'

// Everything that happened to a payment after its initiation, append-only, numbered per payment. A status change is one
// event; the events before it explain it.
export const eventKinds = [
  'attempt_started',
  'attempt_pending', // the provider has the order
  'attempt_needs_input', // the provider waits for input of the customer
  'attempt_submitted', // the customer's input was sent to the provider
  'attempt_not_sent', // nothing was sent: it is tried again
  'attempt_unknown', // no clear reply
  'attempt_resent', // the provider did not have the order: sent again under the same reference
  'attempt_given_up', // the customer continues without it
  'attempt_declined', // a card was declined on the provider's page, which is still open
  'attempt_failed',
  'attempt_paid',
  'attempt_disputed', // the provider reports paid, but another amount
  'attempt_doubted', // the provider reports paid, but by a reference that paid another attempt
  'status_changed',
  'cancel_wished', // the customer cancelled while an attempt was unresolved
  'overpaid', // a second attempt of the payment was paid
  'reversed', // the provider refunded the charge, or part of it
  'dispute_opened', // by the customer's bank; no money has moved
  'dispute_won',
  'dispute_lost', // the money went back
  'refund_requested', // by the merchant or an operator
  'refund_pending', // the provider has the refund
  'refund_unknown', // no clear reply
  'refund_needs_action', // an operator has to act
  'refund_succeeded',
  'refund_failed',
  'reversal_was_refund', // a recorded reversal turned out to be one of our refunds
  'task_closed',
  'receipt_resent', // by an operator; the reason is the medium
] as const
export type EventKind = (typeof eventKinds)[number]

// Who caused the event.
export type Cause = 'customer' | 'merchant' | 'provider' | 'clock' | 'operator'

export type NewEvent = {
  kind: EventKind
  cause: Cause
  attempt_id: string | null
  from_status: Status | null // of a `status_changed`
  to_status: Status | null
  reason: string // a sentence for operators, may be empty
  at: Date
}

export type PaymentEvent = NewEvent & { merchant_id: string; tx_reference: string; sequence: number }

// What needs an operator. An attempt has at most one task of each kind.
export const taskKinds = {
  refund: 'Money arrived twice: refund this amount.',
  amount_mismatch: 'The provider charged another amount than requested.',
  unresolved: 'The provider has reported no outcome for a day.',
  other_order: 'The provider reported paid, but for another order.',
  reference_taken: 'The provider reports paid, but the reference has already paid another attempt.',
  reversed: 'The provider refunded the charge, or part of it.',
  dispute_opened: "The customer's bank disputes the charge.",
  dispute_lost: 'A dispute was lost: the money went back to the customer.',
  not_set_up: 'The provider account of the attempt is not set up, or is another one now.',
  account_refused: 'The provider refuses the credentials of the account.',
  unknown_code: 'The provider refuses payments with an unknown code.',
  refund_needs_action: 'A refund waits for an operator.',
  refund_unclear: 'The outcome of a refund is unknown.',
  refund_exceeds: 'More went back to the customer than may be refunded.',
  not_recorded: 'The reply of the provider could not be stored.',
} as const
export type TaskKind = keyof typeof taskKinds

export type Task = {
  merchant_id: string
  attempt_id: string
  kind: TaskKind
  tx_reference: string
  amount: bigint
  currency: string // as the provider reports it
  note: string
  created_at: Date
  closed_at: Date | null
  closed_note: string | null
}

// One refund and one dispute of a charge, as stored.
export type ReversalRecord = {
  merchant_id: string
  attempt_id: string
  reversal_id: string // the provider's
  tx_reference: string
  amount: bigint
  currency: string
  reason: string
  reversed_at: Date
  created_at: Date
  refund_reference?: string | null // it turned out to be this refund, so it is not counted
}
export type DisputeRecord = {
  merchant_id: string
  attempt_id: string
  dispute_id: string // the provider's
  tx_reference: string
  state: Dispute['state']
  amount: bigint
  currency: string
  reason: string
  due_at: Date | null
  opened_at: Date
  resolved_at: Date | null
}

// The stored refunds and disputes of one attempt.
export type MoneyBack = { reversals: readonly ReversalRecord[]; disputes: readonly DisputeRecord[] }
export const noMoneyBack: MoneyBack = { reversals: [], disputes: [] }

// Entries of the merchant's feed.
export const moneyBackTypes = ['reversed', 'dispute_opened', 'dispute_won', 'dispute_lost'] as const
export type MoneyBackType = (typeof moneyBackTypes)[number]
export type MoneyBackNotice = { type: MoneyBackType; amount: bigint; reason: string; at: Date }

// What a change adds to these records. `closes`: tasks that need no operator any more.
export type MoneyBackChange = MoneyBack & {
  notices: readonly MoneyBackNotice[]
  closes: readonly { kind: TaskKind; note: string }[]
}

// Everything that one decision writes, in one commit.
export type Change = {
  payment: Payment
  attempt: Attempt
  events: NewEvent[]
  tasks: Task[]
  moneyBack?: MoneyBackChange // reversals and disputes of the attempt
}
// The part that metrics, logs and health monitors read after the commit.
export type StatusUpdate = Omit<Change, 'payment'>

export function event(
  kind: EventKind,
  cause: Cause,
  attempt: Attempt | null,
  reason: string,
  at: Date,
): NewEvent {
  return {
    kind,
    cause,
    attempt_id: attempt?.attempt_id ?? null,
    from_status: null,
    to_status: null,
    reason,
    at,
  }
}

export function statusEvent(
  from: Payment,
  to: Payment,
  cause: Cause,
  attempt: Attempt | null,
  at: Date,
): NewEvent {
  const changed = event('status_changed', cause, attempt, to.status_reason, at)
  return { ...changed, from_status: from.status, to_status: to.status }
}

export function task(
  { merchant_id, attempt_id, tx_reference }: Attempt,
  kind: TaskKind,
  { amount, currency }: Pick<Task, 'amount' | 'currency'>,
  note: string,
  created_at: Date,
): Task {
  const open = { closed_at: null, closed_note: null }
  return { merchant_id, attempt_id, kind, tx_reference, amount, currency, note, created_at, ...open }
}
