-- The reasons stand in ../../schema.sql.
create table if not exists tries (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  try integer not null,
  started_at timestamptz not null,
  ms integer not null,
  address text,
  status integer,
  result text not null,
  words text not null default '',
  answer bytea,
  primary key (merchant_id, tx_reference, sequence, try)
);
create index if not exists tries_by_start on tries (started_at);
