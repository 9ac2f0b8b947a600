import type { Mode } from '../mode.ts'

// The ledger is double entry by transfers: one row moves an amount from one account to another, so it balances by
// construction. A merchant has these accounts for each mode and currency:
// - `provider:NAME`: what the provider account owes us (an asset)
// - `merchant`: what we owe the merchant
// - `suspense`: money that belongs to no payment yet: another amount than requested, a duplicate, a disputed charge
// - `refunds_pending`: held for refunds that have not ended
// - `provider_fees`, `gateway_fees`: the fees of the provider, and the operator's own
// - `bank`: money that the operator paid out or back by other means
export type LedgerAccount =
  | `provider:${string}`
  | 'merchant'
  | 'suspense'
  | 'refunds_pending'
  | 'provider_fees'
  | 'gateway_fees'
  | 'bank'

// The events of docs/ledger.md. An `own_account` transfer takes the one before it back, because the money is in the
// merchant's own account. A `transfer_back` corrects an earlier transfer.
export const transferKinds = [
  'charge',
  'unmatched_charge',
  'customer_fee',
  'provider_fee',
  'merchant_fee',
  'gateway_fee',
  'gateway_fee_returned',
  'reversal',
  'dispute_opened',
  'dispute_won',
  'dispute_lost',
  'refund_requested',
  'refund_succeeded',
  'refund_failed',
  'own_account',
  'transfer_back',
] as const
export type TransferKind = (typeof transferKinds)[number]

// One row of `transfers`. The debit side gains what the credit side gives: a paid charge debits the provider account and
// credits the merchant.
export type Transfer = {
  merchant_id: string
  transfer_id: string // made from its cause, so that the same cause is booked once
  mode: Mode
  currency: string
  debit_account: LedgerAccount
  credit_account: LedgerAccount
  amount: bigint // more than zero
  kind: TransferKind
  tx_reference: string | null
  attempt_id: string | null
  refund_reference: string | null
  reason: string
  happened_at: Date // when the money moved
  created_at: Date // when it was booked, by the database's clock
}
