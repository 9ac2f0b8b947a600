import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'

// Money of one charge that goes back to the customer. A charge is an attempt that took money: the one that paid the
// payment, a duplicate, another amount than requested, a late success.
// `requested`: stored; the provider has not been asked, or its reply is not stored yet.
// `pending`: the provider has the refund and works on it.
// `unknown`: no clear reply. It is not `failed`: the provider is polled until it gives one.
// `needs_action`: an operator has to do something: the provider asks for it, or the refund is of kind `manual`.
export const refundStates = [
  'requested',
  'pending',
  'unknown',
  'needs_action',
  'succeeded',
  'failed',
] as const
export type RefundState = (typeof refundStates)[number]

// All possible state changes. A provider may report a success after it reported a failure: money that moved counts.
export const refundMoves: Readonly<Record<RefundState, readonly RefundState[]>> = {
  requested: ['pending', 'unknown', 'needs_action', 'succeeded', 'failed'],
  pending: ['unknown', 'needs_action', 'succeeded', 'failed'],
  unknown: ['pending', 'needs_action', 'succeeded', 'failed'],
  needs_action: ['pending', 'succeeded', 'failed'],
  succeeded: [],
  failed: ['succeeded'],
}

// Whose money goes back: part of the payment's amount, money that the payment did not need (a duplicate charge, a surplus,
// another amount than requested), or a fee that the customer bore.
export const refundSources = ['payment', 'surplus', 'fee'] as const
export type RefundSource = (typeof refundSources)[number]

// `manual`: the provider has no refund call, so an operator pays it back elsewhere and records it.
export type RefundKind = 'provider' | 'manual'

// One row of `refunds`; the names are the column names.
export type Refund = {
  merchant_id: string
  refund_reference: string // ours; starts with the merchant's id, as an attempt_id does
  refund_id: string | null // the merchant's; null if an operator requested it
  mode: Mode
  tx_reference: string
  invoice_id: string
  attempt_id: string // the charge
  source: RefundSource
  kind: RefundKind
  provider_account: string // of the charge
  account_identity: string | null
  idempotency_key: string | null // the refund's id at the provider; null: the refund_reference
  amount: bigint
  currency: Currency
  reason: string // given by who requested it; may be empty
  requested_by: 'merchant' | 'operator'
  operator: string | null // the name of the operator who requested it
  state: RefundState
  state_reason: string // a sentence for operators and merchants; may be empty
  provider_ref: string | null // the provider's id of the refund
  provider_code: string | null
  sends: number // how often it was sent to the provider
  sent_at: Date | null // the last time
  acknowledged_at: Date | null // the first reply which showed that the provider has it
  polls: number
  next_poll_at: Date | null
  recorded_by: string | null // the operator who recorded that it was paid back elsewhere, or what became of it
  recorded_reference: string | null // of the payment back
  succeeded_at: Date | null // when the money went back, as the provider or the operator reports it
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

// A refund that has not failed holds its amount: it cannot be refunded again.
export const holdsAmount = ({ state }: Pick<Refund, 'state'>) => state !== 'failed'

// Why a refund is not created.
export type RefundFault =
  | { fault: 'no_such_payment' }
  | { fault: 'not_paid' }
  | { fault: 'not_allowed' } // the merchant's setting `refunds` is off
  | { fault: 'more_than_left'; left: bigint }
  | { fault: 'over_daily_limit'; left: bigint }
  | { fault: 'too_old'; days: number } // the provider refunds no charges of this age
  | { fault: 'below_minimum'; minimum: bigint }
  | { fault: 'only_whole'; amount: bigint } // the provider has no partial refunds
  | { fault: 'other_fields'; stored: Refund } // the refund_id exists with other fields

// It has neither succeeded nor failed.
export const isOpenRefund = ({ state }: Pick<Refund, 'state'>) => state !== 'succeeded' && state !== 'failed'

export const refundKeyOf = ({
  idempotency_key,
  refund_reference,
}: Pick<Refund, 'idempotency_key' | 'refund_reference'>) => idempotency_key ?? refund_reference

// A refund is sent if it was certainly never sent, or if the provider has not acknowledged it and moves money once however
// often it is sent under one id.
export const maySendRefund = (
  { state, sent_at, acknowledged_at, kind }: Refund,
  isIdempotent: boolean,
): boolean =>
  kind === 'provider' &&
  (state === 'requested' || state === 'unknown') &&
  acknowledged_at === null &&
  (sent_at === null || isIdempotent)

// The only function that changes the state of a refund. Undefined if nothing changes: providers repeat themselves.
export function moveRefund(refund: Refund, to: RefundState, reason: string, now: Date): Refund | undefined {
  if (!refundMoves[refund.state].includes(to)) return undefined
  return { ...refund, state: to, state_reason: reason, updated_at: now }
}

// What one decision changes about a refund. `before` is undefined for a new one.
export type RefundChange = { before: Refund | undefined; after: Refund }
