-- beside the previous release: yes
-- Payments that a user of the dashboard took at the counter, and who took each.
create table taken_payments (
  merchant_id text not null,
  tx_reference text collate "C" not null, -- begins with the time
  user_id text not null,
  mode text not null check (mode in ('test', 'live')),
  primary key (merchant_id, tx_reference)
);
-- What a user took today, and how many are open.
create index taken_payments_by_user on taken_payments (merchant_id, user_id, tx_reference);
