import type { Currency } from '../money.ts'

// A refund as a provider module gets it.
export type RefundOrder = {
  refund_reference: string
  idempotency_key: string // identifies the refund at the provider, if it lets us choose an id
  provider_ref: string | null // the provider's id of the refund, if a reply or a webhook named it
  amount: bigint
  currency: Currency
  reason: string
  is_whole: boolean // the whole charge is refunded, and nothing of it was before
  requested_at: Date
  sent_at: Date | null // null: never sent
  is_first_sending: boolean
  charge: RefundedCharge
  tx_reference: string
  invoice_id: string
  merchant_name: string
  // Ids of the provider that belong to other refunds of the same charge, so that a list of refunds can be matched.
  other_refs: readonly string[]
  callback_url: string
  webhook_url: string
}

// The charge, as the provider names it.
export type RefundedCharge = {
  attempt_id: string
  idempotency_key: string
  provider_ref: string | null
  payment_method: string
  amount: bigint // charged
  instrument: string | null // a wallet's number (E.164), or a masked card number
  started_at: Date
  paid_at: Date
}

// A provider's reply about a refund. Only an explicit yes or no ends it.
// - `pending`: the provider has the refund and works on it.
// - `succeeded`: the money went back, for the `refund` that the provider names.
// - `failed`: final. `isRefused`: the provider did not accept it, which is final only after a single sending.
// - `needs_action`: the provider waits for an operator, such as for the customer's bank details or for money in the float.
// - `unknown`, `absent` and `not_sent` have the meanings of a `Reply` to an order.
export type RefundReply =
  | ({ state: 'pending' } & RefundFacts)
  | ({
      state: 'succeeded'
      refund: string // the idempotency_key or the refund_reference, copied from the provider's answer
      amount: bigint | 'not_said'
      currency: string
    } & RefundFacts)
  | ({ state: 'failed'; words: string; isRefused?: boolean } & RefundFacts)
  | ({ state: 'needs_action'; words: string } & RefundFacts)
  | {
      state: 'unknown'
      words: string
      acknowledged?: boolean
      provider_code?: string
      restMs?: number
      isRefusal?: true
    }
  | { state: 'absent' }
  | { state: 'not_sent'; words: string; provider_code?: string; isRefusal?: true }

type RefundFacts = {
  provider_ref?: string // the provider's id of the refund
  provider_code?: string // the raw code, for operators
  provider_time?: Date // when it happened, by the provider's clock
}

// The refunds of an account. Without them, refunds of its charges are of kind `manual`.
export type ProviderRefunds = {
  isIdempotent: boolean // a refund that is sent twice under one id moves money once
  hasPartial: boolean
  withinMs?: number // after this age of the charge the provider refuses refunds; undefined: no limit is known
  minimum?: bigint // in minor units
  // After this time `checkRefund` finds every refund that the provider has accepted, so that "not found" is final.
  // Undefined: never, because the provider lets us choose no id, or says nothing about it.
  visibleWithinMs?: number
  // The provider's key for a refund, in its format. Default: the refund_reference.
  newIdempotencyKey?(refund_reference: string): string
  // Signals, thrown errors and `NotSent` mean the same as for `start` and `check`.
  refund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply>
  checkRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply>
}

// A reply after sanitizing. `not_set_up`: the account of the charge is not open on this node, so it was not called.
// `other_refund`: a success, but for another refund or in another amount or currency than requested.
export type SanitizedRefundReply =
  | RefundReply
  | { state: 'not_set_up'; words: string }
  | { state: 'other_refund'; words: string; acknowledged?: true }
