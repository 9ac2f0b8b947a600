-- What a merchant is told of one change of a payment's status: the bytes that every try sends. A row is there for every
-- change, with or without an address to send it to; `position` is its place in the merchant's feed, given when the
-- feed is read.
create table if not exists notifications (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  status text not null,
  body text not null,
  created_at timestamptz not null,
  position bigint,
  primary key (merchant_id, tx_reference, sequence)
);
