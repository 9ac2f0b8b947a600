-- beside the previous release: yes
-- The balance of each ledger account at the end of a day, as the sums of all transfers until then. A day without transfers
-- has none. It can be computed again from the transfers at any time.
create table ledger_snapshots (
  merchant_id text not null,
  until_at timestamptz not null, -- transfers created before it are included
  mode text not null,
  currency text not null,
  account text not null,
  debits numeric not null,
  credits numeric not null,
  primary key (merchant_id, until_at, mode, currency, account)
);
-- How far the search for charges without transfers has come, by merchant.
create table ledger_searches (
  merchant_id text not null primary key,
  behind text not null, -- the reference of the last payment that was searched
  passes integer not null default 0, -- completed
  due_at timestamptz not null -- the next batch is searched from then on
);
