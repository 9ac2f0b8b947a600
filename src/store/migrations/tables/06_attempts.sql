-- The reasons stand in ../../schema.sql.
create table if not exists attempts (
  merchant_id text not null,
  attempt_id text not null,
  tx_reference text not null,
  number integer not null,
  channel text not null,
  payment_method text not null,
  state text not null
    check (state in ('started', 'not_sent', 'pending', 'unknown', 'disputed', 'paid', 'failed')),
  reason text,
  instrument text,
  payer text,
  lang text,
  given jsonb not null default '{}',
  provider_ref text,
  redirect_url text,
  qr text,
  charged bigint,
  card_type text,
  psp_response_code text,
  psp_response_msg text,
  sends integer not null default 1,
  resent_at timestamptz,
  acknowledged_at timestamptz,
  returned_at timestamptz,
  asks integer not null default 0,
  next_ask_at timestamptz,
  knocked boolean not null default false,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (merchant_id, attempt_id),
  unique (merchant_id, tx_reference, number),
  foreign key (merchant_id, tx_reference) references payments (merchant_id, tx_reference)
) with (fillfactor = 50);
create unique index if not exists attempts_open on attempts (merchant_id, tx_reference)
  where state not in ('paid', 'failed');
create index if not exists attempts_due_by_channel on attempts (channel, knocked, next_ask_at)
  where next_ask_at is not null;
create index if not exists attempts_by_instrument on attempts (merchant_id, instrument, created_at)
  where state <> 'paid';
create index if not exists attempts_by_payer on attempts (merchant_id, payer, created_at) where state <> 'paid';
