-- One set of credentials at a provider, the operator's or a merchant's. Rows are never deleted: attempts name their
-- account and are polled after it was disabled. The table is small, every node reads all of it and lookups have no
-- merchant, so it is not sharded. That is why it has no foreign key to merchants, which may be.
create table provider_accounts (
  account text primary key, -- the provider's name and six letters: mtn-4f7k2q
  provider text not null, -- the name of the provider's module
  mode text not null check (mode in ('test', 'live')), -- as declared; the settings have to agree
  merchant_id text, -- the merchant whose money it collects; null: the operator
  label text, -- for people
  settings jsonb not null default '{}', -- those that are not secret
  sealed_settings bytea not null, -- the secret ones; the seal also covers the other columns, so that an edited row is rejected
  wrapped_key bytea not null, -- the account's data key, wrapped by the master key
  master_key_id text not null,
  disabled_at timestamptz, -- no new attempts from then on; existing ones are still polled
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version bigint not null -- one above the highest version in the table at the time of the change
);
-- Every node reads the highest version each second.
create index provider_accounts_by_version on provider_accounts (version);
