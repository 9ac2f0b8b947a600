-- The history of a payment. Rows are only added.
create table events (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  kind text not null,
  cause text not null,
  attempt_id text,
  from_status text,
  to_status text,
  reason text not null default '',
  at timestamptz not null,
  primary key (merchant_id, tx_reference, sequence)
);
