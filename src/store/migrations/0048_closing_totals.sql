-- beside the previous release: yes
-- What the transfers of a period added to a merchant's balance, by outlet, payment method and currency, so that the closing of
-- a month does not read every transfer: whole days, and of the present day the hours that are over. Transfers are only added,
-- so a sum stays right. It can be computed again from them at any time.
create table closing_totals (
  merchant_id text not null,
  mode text not null,
  from_at timestamptz not null,
  until_at timestamptz not null, -- not included
  line integer not null, -- numbers the rows of a period
  outlet text,
  payment_method text,
  currency text not null,
  transfers bigint not null, -- how many were summed
  payments bigint not null,
  gross bigint not null,
  fees bigint not null,
  refunds bigint not null,
  disputes bigint not null,
  other bigint not null,
  net bigint not null,
  primary key (merchant_id, mode, from_at, until_at, line)
);
-- Up to where the transfers of a merchant are summed. The row is locked while they are.
create table closing_progress (
  merchant_id text not null,
  mode text not null,
  summed_until timestamptz not null,
  primary key (merchant_id, mode)
);
