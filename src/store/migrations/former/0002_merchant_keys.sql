-- A merchant key is public; its secret is sealed with the merchant's data key. A rotated key works until
-- it expires.
create table if not exists merchant_keys (
  merchant_id text not null references merchants,
  merchant_key text not null,
  mode text not null check (mode in ('test', 'live')),
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (merchant_id, merchant_key)
);
