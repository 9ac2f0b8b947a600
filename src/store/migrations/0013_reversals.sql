-- One row for each refund at the provider. Several refunds of one charge may be partial.
create table reversals (
  merchant_id text not null,
  attempt_id text not null,
  reversal_id text not null, -- the provider's id of the refund
  tx_reference text not null,
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  reversed_at timestamptz not null, -- the provider's time, if it reports one
  created_at timestamptz not null,
  primary key (merchant_id, attempt_id, reversal_id)
);
