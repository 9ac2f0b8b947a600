-- The logo on a merchant's pages, re-encoded by the gateway. Its URL contains the digest, so that clients may cache it
-- without a limit.
create table merchant_logos (
  merchant_id text primary key references merchants,
  digest text not null,
  type text not null check (type in ('png', 'jpeg')),
  bytes bytea not null,
  width integer not null,
  height integer not null,
  created_at timestamptz not null
);
