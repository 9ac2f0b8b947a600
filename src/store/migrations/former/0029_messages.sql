-- What somebody is told by SMS or email: a customer of the end of a payment, once per status, or a merchant's contact
-- of something that needs a look.
create table if not exists messages (
  merchant_id text not null,
  message_id text not null,
  mode text not null check (mode in ('test', 'live')),
  medium text not null check (medium in ('sms', 'email')),
  topic text not null,
  recipient text not null,
  lang text not null,
  tx_reference text,
  created_at timestamptz not null,
  tries integer not null default 0,
  next_try_at timestamptz,
  lease_token text,
  state text not null default 'queued' check (state in ('queued', 'sent', 'delivered', 'dropped')),
  words text not null default '',
  messenger text,
  provider_ref text,
  sent_at timestamptz,
  ended_at timestamptz,
  primary key (merchant_id, message_id)
);
