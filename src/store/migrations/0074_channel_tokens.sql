-- Tokens of providers that all nodes use, where a new one ends the one before.
create table if not exists channel_tokens (
  channel text primary key,
  master_key_id text,
  wrapped_key bytea,
  sealed_token bytea,
  made_at timestamptz,
  expires_at timestamptz,
  maker text,
  maker_until timestamptz
);
