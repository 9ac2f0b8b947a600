-- A merchant's payment request and its outcome. A status check reads this row only. There is no foreign key to merchants:
-- no merchant is ever deleted, and the check would lock the same row for every payment of a busy merchant.
create table payments (
  merchant_id text not null,
  tx_reference text not null, -- sorts by creation time, so the primary key also lists payments by time
  mode text not null check (mode in ('test', 'live')),
  invoice_id text not null, -- the merchant's id of the payment
  tx_token text not null, -- the secret part of the checkout URL
  status text not null check (status in ('awaiting_payment', 'paid', 'cancelled', 'failed')),
  status_reason text not null default '',
  total bigint not null check (total > 0),
  currency text not null,
  -- as in the request
  success_url text,
  cancelled_url text,
  deferred_url text,
  ipn_url text,
  number text,
  email text,
  name text,
  description text,
  line_items jsonb, -- name, quantity and the line's total in minor units as text
  outlet text,
  pymt_instrument text,
  wallet_issuer_hint text,
  extra jsonb not null default '{}',
  request_digest bytea not null, -- tells a repeated request from another one with the same invoice_id
  -- the outcome
  payment_method text,
  payment_instrument text,
  payment_reference text,
  payment_time timestamptz,
  charged bigint,
  card_type text,
  psp_response_code text,
  psp_response_msg text,
  late boolean not null default false, -- paid after it had been cancelled or had failed
  cancel_requested_at timestamptz, -- the customer cancelled while an attempt was unresolved
  left_by text[] not null default '{}', -- visits that were redirected to the shop automatically, which happens once per visit
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_attempt_id text, -- the attempt that paid it; a second success is an overpayment
  reversed_at timestamptz, -- when money of that attempt was first refunded, wholly or in part
  reversed_amount bigint, -- the total refunded so far
  redacted_at timestamptz, -- when the payer's data was removed; later changes are redacted again
  primary key (merchant_id, tx_reference),
  unique (merchant_id, mode, invoice_id), -- makes a repeated request safe
  unique (merchant_id, tx_token)
);
-- For expiry. It holds open payments only, and new ones are added at its end.
create index payments_due on payments (expires_at) where status = 'awaiting_payment';
-- For redaction, oldest first. expires_at never changes, so an update that keeps the status can stay a heap-only update.
create index payments_to_redact on payments (expires_at)
  where status <> 'awaiting_payment' and redacted_at is null;
