import type { StoredLineItem } from '../lineItems.ts'
import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

export type Status = 'awaiting_payment' | 'paid' | 'cancelled' | 'failed'

// One row of `payments`; the names are the column names and, where there is one, the wire name.
export type NewPayment = {
  merchant_id: string
  tx_reference: string
  mode: Mode
  invoice_id: string
  tx_token: string
  status: Status
  status_reason: string
  total: bigint // minor units
  currency: Currency
  success_url: UntrustedUrl | null
  cancelled_url: UntrustedUrl | null
  deferred_url: UntrustedUrl | null
  ipn_url: UntrustedUrl | null
  number: string | null
  email: string | null
  name: string | null
  description: string | null
  line_items: readonly StoredLineItem[] | null
  outlet: string | null
  pymt_instrument: string | null
  wallet_issuer_hint: string | null
  extra: Record<string, string>
  request_digest: Buffer
  created_at: Date
  updated_at: Date
  expires_at: Date
  traceparent: string | null // of the request that created it, if that was traced: see core/traces.ts
}

// The outcome so far: that of the latest attempt, until an attempt is paid. Empty in a new payment.
type PaymentOutcome = {
  late: boolean // paid after the merchant was notified of failed or cancelled
  cancel_requested_at: Date | null // the customer cancelled while an attempt was unresolved
  payment_method: string | null
  payment_instrument: string | null // masked
  payment_reference: string | null // the provider's
  payment_time: Date | null
  charged: bigint | null
  card_type: string | null
  psp_response_code: string | null
  psp_response_msg: string | null
  paid_attempt_id: string | null // the attempt that paid it
  reversed_at: Date | null // when money of that attempt was first reversed; the payment stays paid
  reversed_amount: bigint | null // how much of it so far
  refunded_amount: bigint | null // of the payment's amount, by refunds that succeeded; null: no refund was ever requested
  redacted_at: Date | null // when the payer's personal data was removed
}
export type Payment = NewPayment & PaymentOutcome

export const noOutcome: PaymentOutcome = {
  late: false,
  cancel_requested_at: null,
  payment_method: null,
  payment_instrument: null,
  payment_reference: null,
  payment_time: null,
  charged: null,
  card_type: null,
  psp_response_code: null,
  psp_response_msg: null,
  paid_attempt_id: null,
  reversed_at: null,
  reversed_amount: null,
  refunded_amount: null,
  redacted_at: null,
}

// All possible status changes. Money that moved outranks an earlier failure or cancellation.
export const moves: Readonly<Record<Status, readonly Status[]>> = {
  awaiting_payment: ['paid', 'failed', 'cancelled'],
  failed: ['awaiting_payment', 'cancelled', 'paid'],
  cancelled: ['awaiting_payment', 'paid'],
  paid: [],
}

// The only function that changes a status. Undefined if nothing changes: providers repeat themselves.
export function move<P extends Pick<NewPayment, 'status' | 'status_reason' | 'updated_at'>>(
  payment: P,
  to: Status,
  reason: string,
  now: Date,
): P | undefined {
  if (!moves[payment.status].includes(to)) return undefined
  return { ...payment, status: to, status_reason: reason, updated_at: now }
}

// The fields of a payment that a status check reads.
export type PaymentState = Omit<
  Payment,
  | 'tx_token'
  | 'line_items'
  | 'success_url'
  | 'cancelled_url'
  | 'deferred_url'
  | 'ipn_url'
  | 'request_digest'
  | 'created_at'
  | 'expires_at'
  | 'cancel_requested_at'
  | 'paid_attempt_id'
  | 'redacted_at'
>
