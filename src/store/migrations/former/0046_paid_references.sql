-- A provider's reference pays one attempt. Who looks for one has an account at a provider and a reference, and no
-- merchant: a sharded database spreads this table by `reference`.
create table if not exists paid_references (
  account text not null,
  reference text not null,
  merchant_id text not null,
  attempt_id text not null,
  primary key (account, reference)
);
