-- A provider's reference pays one attempt only. Lookups have a provider account and no merchant, so a sharded database
-- distributes this table by reference. It is the only one whose key does not lead with merchant_id.
create table paid_references (
  account text not null,
  reference text not null,
  merchant_id text not null,
  attempt_id text not null,
  primary key (account, reference)
);
