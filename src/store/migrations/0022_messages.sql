-- SMS and emails: to a customer once per final status, and again when an operator resends the receipt; to a merchant's
-- contact when something needs attention.
create table messages (
  merchant_id text not null,
  message_id text not null,
  mode text not null check (mode in ('test', 'live')),
  medium text not null check (medium in ('sms', 'email')),
  topic text not null,
  recipient text not null,
  mailbox text, -- the recipient in one canonical spelling
  lang text not null,
  tx_reference text,
  state text not null default 'queued' check (state in ('queued', 'sent', 'delivered', 'dropped')),
  words text not null default '',
  tries integer not null default 0,
  unanswered integer not null default 0, -- tries since the last stored result
  next_try_at timestamptz, -- null: it has ended
  lease_token text,
  messenger text,
  provider_ref text,
  created_at timestamptz not null,
  sent_at timestamptz, -- set before a try, because a message that may arrive counts
  ended_at timestamptz,
  primary key (merchant_id, message_id)
);
-- Due messages.
create index messages_due on messages (medium, next_try_at) where next_try_at is not null;
-- The cap per recipient, in any spelling.
create index messages_by_mailbox on messages ((coalesce(mailbox, recipient)), sent_at) where sent_at is not null;
-- The cap per merchant.
create index messages_by_merchant on messages (merchant_id, sent_at) where sent_at is not null;
-- A delivery receipt names the provider's reference but no merchant.
create index messages_by_reference on messages (provider_ref) where provider_ref is not null;
-- The newest messages at the inbox page, and the cleanup.
create index messages_by_time on messages (created_at);
