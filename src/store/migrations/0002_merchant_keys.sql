-- API keys. The key is public, its secret is sealed. A rotated key works until expires_at.
create table merchant_keys (
  merchant_id text not null references merchants,
  merchant_key text not null,
  mode text not null check (mode in ('test', 'live')),
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (merchant_id, merchant_key)
);
-- A request names a key but no merchant.
create index merchant_keys_by_key on merchant_keys (merchant_key);
