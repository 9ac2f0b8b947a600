-- The delivery of a notification to a URL. A try in flight holds a lease, which is in no index. Half of each page stays
-- free, so that writing the lease is a heap-only update.
create table deliveries (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  lane text not null, -- deliveries of one lane share a circuit breaker; src/core/notification/laneName.ts builds the name
  style text not null check (style in ('post', 'get', 'basic')),
  created_at timestamptz not null,
  begun_at timestamptz not null, -- start of the retry schedule; a manual redelivery restarts it
  tries integer not null default 0,
  retry boolean not null default false, -- an earlier try failed
  parked boolean not null default false, -- parked in its lane, out of the list of due deliveries
  alone boolean not null default false, -- no other delivery of its payment is open; false: not checked
  next_try_at timestamptz, -- null: it has ended
  lease_token text,
  lease_until timestamptz,
  acknowledged_at timestamptz,
  exhausted_at timestamptz,
  -- The last try is stored here, not in tries, so that the usual delivery, acknowledged at once, writes one row.
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
-- Due deliveries. First tries and retries are read separately.
create index deliveries_due on deliveries (retry, next_try_at) where next_try_at is not null;
-- Parked deliveries of a lane, oldest first.
create index deliveries_parked on deliveries (merchant_id, lane, begun_at) where parked;
-- Exhausted deliveries, for lists and for the mail to the merchant's contact.
create index deliveries_exhausted on deliveries (merchant_id, exhausted_at) where exhausted_at is not null;
-- Deliveries whose last try is still stored, oldest first, for the cleanup after 30 days.
create index deliveries_remembered on deliveries (last_try_at) where last_try is not null;
