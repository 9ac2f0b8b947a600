-- beside the previous release: yes
-- Refunds that a merchant or an operator requested. Refunds that a provider made by itself are in reversals. A refund is
-- stored before it is sent, and polled until the provider gives a clear reply. Half of each page stays free for leases, as
-- in attempts.
create table refunds (
  merchant_id text not null,
  refund_reference text not null, -- our id; starts with the merchant's id
  refund_id text, -- the merchant's id; null: requested by an operator
  mode text not null check (mode in ('test', 'live')),
  tx_reference text not null,
  invoice_id text not null,
  attempt_id text not null, -- the charge
  source text not null check (source in ('payment', 'surplus', 'fee')),
  kind text not null check (kind in ('provider', 'manual')),
  provider_account text not null,
  account_identity text,
  idempotency_key text, -- the refund's id at the provider; null: the refund_reference
  amount bigint not null check (amount > 0),
  currency text not null,
  reason text not null default '',
  requested_by text not null check (requested_by in ('merchant', 'operator')),
  operator text, -- who requested it
  state text not null
    check (state in ('requested', 'pending', 'unknown', 'needs_action', 'succeeded', 'failed')),
  state_reason text not null default '',
  provider_ref text, -- the provider's id of the refund
  provider_code text,
  sends integer not null default 0,
  sent_at timestamptz,
  acknowledged_at timestamptz,
  polls integer not null default 0,
  next_poll_at timestamptz, -- unchanged until a reply is stored; null: nothing to ask
  lease_until timestamptz,
  recorded_by text, -- the operator who recorded what became of it
  recorded_reference text,
  succeeded_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (merchant_id, refund_reference),
  unique (merchant_id, mode, refund_id) -- makes a repeated request safe
) with (fillfactor = 50);
-- The refunds of a payment, read under the payment's lock.
create index refunds_of_payment on refunds (merchant_id, tx_reference);
-- Due polls by account, so that a provider that is down does not delay the others.
create index refunds_due on refunds (provider_account, next_poll_at) where next_poll_at is not null;
-- A webhook names a refund by its id at the provider.
create index refunds_by_key on refunds (provider_account, idempotency_key) where idempotency_key is not null;
-- Lists by time, and the daily limit of a merchant.
create index refunds_by_time on refunds (merchant_id, created_at);

-- What was refunded of the payment's amount so far. Null: no refund was ever requested, so a status check reads no refunds.
alter table payments add column refunded_amount bigint;
-- A reversal that turned out to be one of our refunds, and is not counted any more.
alter table reversals add column refund_reference text;
-- The merchant's sentence about refunds had the name of the setting that allows them.
update merchants set settings = settings - 'refunds' || jsonb_build_object('refund_policy', settings -> 'refunds')
  where settings ? 'refunds';
