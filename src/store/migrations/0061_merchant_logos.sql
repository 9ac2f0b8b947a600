-- The picture that a merchant shows on its pages.
create table if not exists merchant_logos (
  merchant_id text primary key references merchants,
  digest text not null,
  type text not null check (type in ('png', 'jpeg')),
  bytes bytea not null,
  width integer not null,
  height integer not null,
  created_at timestamptz not null
);
