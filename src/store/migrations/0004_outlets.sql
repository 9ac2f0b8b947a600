-- A merchant's points of sale. A payment may name one, and reports group by it.
create table outlets (
  merchant_id text not null references merchants,
  code text not null,
  name text not null,
  created_at timestamptz not null,
  primary key (merchant_id, code)
);
