-- Secrets that sign the notifications of a mode. During a rotation there are two.
create table ipn_secrets (
  merchant_id text not null references merchants,
  mode text not null check (mode in ('test', 'live')),
  secret_id text not null,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (merchant_id, mode, secret_id)
);
