-- The reasons stand in ../../schema.sql.
create table if not exists tasks (
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
