-- Accounts at providers, set by command. Belongs to no shard: every node reads all of it.
create table if not exists channel_accounts (
  account text primary key,
  channel text not null,
  mode text not null check (mode in ('test', 'live')),
  merchant_id text,
  label text,
  settings jsonb not null default '{}',
  sealed_settings bytea not null,
  wrapped_key bytea not null,
  master_key_id text not null,
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version bigint not null
);
create index if not exists channel_accounts_by_version on channel_accounts (version);
