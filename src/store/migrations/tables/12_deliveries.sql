-- The reasons stand in ../../schema.sql.
create table if not exists deliveries (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  lane text not null,
  style text not null check (style in ('post', 'get', 'basic')),
  created_at timestamptz not null,
  begun_at timestamptz not null,
  tries integer not null default 0,
  retry boolean not null default false,
  held boolean not null default false,
  alone boolean not null default false,
  next_try_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  acknowledged_at timestamptz,
  exhausted_at timestamptz,
  last_try integer,
  last_try_at timestamptz,
  last_ms integer,
  last_address text,
  last_status integer,
  last_result text,
  last_words text,
  last_answer bytea,
  primary key (merchant_id, tx_reference, sequence)
) with (fillfactor = 50);
create index if not exists deliveries_due on deliveries (retry, next_try_at) where next_try_at is not null;
create index if not exists deliveries_held on deliveries (merchant_id, lane, begun_at) where held;
create index if not exists deliveries_exhausted on deliveries (merchant_id, exhausted_at)
  where exhausted_at is not null;
create index if not exists deliveries_remembered on deliveries (last_try_at) where last_try is not null;
