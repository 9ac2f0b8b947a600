-- The last try of a delivery stands in the delivery itself, so that the usual one, which is acknowledged at once, is
-- one row and not two. `tries` has those before it.
alter table deliveries
  add column if not exists last_try integer,
  add column if not exists last_ms integer,
  add column if not exists last_address text,
  add column if not exists last_status integer,
  add column if not exists last_words text,
  add column if not exists last_answer bytea;
