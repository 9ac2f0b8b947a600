-- The journey of a notification to an address. `next_try_at` is empty when it has ended. A try under way holds a lease,
-- which no index knows, so that taking one is cheap. `held` waits in its lane, out of the way of the other lanes.
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
  last_try_at timestamptz,
  last_result text,
  next_try_at timestamptz,
  lease_token text,
  lease_until timestamptz,
  acknowledged_at timestamptz,
  exhausted_at timestamptz,
  primary key (merchant_id, tx_reference, sequence)
) with (fillfactor = 50);
