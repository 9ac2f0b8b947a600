-- HTTP requests of a delivery before its last one, and their results. Kept for 30 days.
create table tries (
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
-- For the cleanup. A BRIN index would not do: new rows reuse free space anywhere in the table.
create index tries_by_start on tries (started_at);
