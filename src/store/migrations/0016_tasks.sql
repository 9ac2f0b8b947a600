-- Work for an operator. The primary key makes each task unique, however often its cause is observed.
create table tasks (
  merchant_id text not null,
  attempt_id text not null,
  kind text not null,
  tx_reference text not null,
  amount bigint not null,
  currency text not null,
  note text not null default '',
  created_at timestamptz not null,
  closed_at timestamptz,
  closed_note text,
  primary key (merchant_id, attempt_id, kind)
);
