-- The reasons stand in ../../schema.sql.
create table if not exists outlets (
  merchant_id text not null references merchants,
  code text not null,
  name text not null,
  created_at timestamptz not null,
  primary key (merchant_id, code)
);
