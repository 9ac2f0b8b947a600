-- The reasons stand in ../../schema.sql.
create table if not exists messages (
  merchant_id text not null,
  message_id text not null,
  mode text not null check (mode in ('test', 'live')),
  medium text not null check (medium in ('sms', 'email')),
  topic text not null,
  recipient text not null,
  mailbox text,
  lang text not null,
  tx_reference text,
  state text not null default 'queued' check (state in ('queued', 'sent', 'delivered', 'dropped')),
  words text not null default '',
  tries integer not null default 0,
  unanswered integer not null default 0,
  next_try_at timestamptz,
  lease_token text,
  messenger text,
  provider_ref text,
  created_at timestamptz not null,
  sent_at timestamptz,
  ended_at timestamptz,
  primary key (merchant_id, message_id)
);
create index if not exists messages_due on messages (medium, next_try_at) where next_try_at is not null;
create index if not exists messages_by_mailbox on messages ((coalesce(mailbox, recipient)), sent_at)
  where sent_at is not null;
create index if not exists messages_by_recipient on messages (recipient, sent_at) where sent_at is not null;
create index if not exists messages_by_merchant on messages (merchant_id, sent_at) where sent_at is not null;
create index if not exists messages_by_reference on messages (provider_ref) where provider_ref is not null;
create index if not exists messages_by_time on messages (created_at);
