import type { Status } from './payment.ts'

// Everything that happened to a payment after it was asked for, append-only, numbered per payment. A change of the
// status is one of them; the others say why it came to it.
export const eventKinds = [
  'attempt_started',
  'attempt_pending', // the provider has it
  'attempt_needs_input', // and waits for something that the customer has to type
  'attempt_submitted', // what the customer typed was carried on
  'attempt_not_sent', // nothing has left us: it is tried again
  'attempt_unknown', // no clear answer
  'attempt_resent', // the provider never heard of it: sent again under the same reference
  'attempt_given_up', // the customer wishes to go on without it
  'attempt_declined', // a card, on the provider's page, which is still open
  'attempt_failed',
  'attempt_paid',
  'attempt_disputed', // yes, but to another amount
  'attempt_doubted', // yes, but by a reference that has paid another attempt
  'status_changed',
  'cancel_wished', // while an attempt was unresolved
  'overpaid', // a second success
  'reversed', // the provider refunded the charge, or part of it
  'dispute_opened', // by the customer's bank; no money has moved
  'dispute_won',
  'dispute_lost', // the money went back
  'task_closed',
  'receipt_resent', // by a person; the reason is the medium
] as const
export type EventKind = (typeof eventKinds)[number]

// Who said so.
export type Cause = 'customer' | 'merchant' | 'provider' | 'clock' | 'operator'

export type NewEvent = {
  kind: EventKind
  cause: Cause
  attempt_id: string | null
  from_status: Status | null // of a status_changed
  to_status: Status | null
  reason: string // plain words, may be empty
  at: Date
}

export type PaymentEvent = NewEvent & { merchant_id: string; tx_reference: string; sequence: number }
