import type { Currency } from './money.ts'

export type Mode = 'test' | 'live'
export type Status = 'awaiting_payment' | 'paid' | 'cancelled' | 'failed'

// One row of `payments`; the names are the column names and, where there is one, the wire name.
export type Payment = {
  merchant_id: string
  tx_reference: string
  mode: Mode
  invoice_id: string
  tx_token: string
  status: Status
  status_reason: string
  total: bigint // minor units
  currency: Currency
  success_url: string | null
  cancelled_url: string | null
  deferred_url: string | null
  ipn_url: string | null
  number: string | null
  email: string | null
  name: string | null
  description: string | null
  outlet: string | null
  pymt_instrument: string | null
  wallet_issuer_hint: string | null
  extra: Record<string, string>
  request_digest: Buffer
  created_at: Date
  updated_at: Date
  expires_at: Date
}

// What a status check tells of a payment.
export type PaymentState = Omit<
  Payment,
  | 'tx_token'
  | 'success_url'
  | 'cancelled_url'
  | 'deferred_url'
  | 'ipn_url'
  | 'request_digest'
  | 'created_at'
  | 'expires_at'
>
