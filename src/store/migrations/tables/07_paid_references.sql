-- The reasons stand in ../../schema.sql.
create table if not exists paid_references (
  account text not null,
  reference text not null,
  merchant_id text not null,
  attempt_id text not null,
  primary key (account, reference)
);
