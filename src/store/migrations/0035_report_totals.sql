-- beside the previous release: yes
-- The periods whose payments are summed for the outlet report, so that a report of a month does not read every payment: whole
-- days, and of the present day the hours that are over.
create table report_periods (
  merchant_id text not null,
  mode text not null,
  from_at timestamptz not null,
  until_at timestamptz not null, -- not included
  primary key (merchant_id, mode, from_at, until_at)
);
-- The sums of a period, by outlet, status, payment method and currency.
create table report_totals (
  merchant_id text not null,
  mode text not null,
  from_at timestamptz not null,
  until_at timestamptz not null,
  line integer not null, -- numbers the rows of a period
  outlet text,
  status text not null,
  payment_method text,
  currency text not null,
  payments bigint not null,
  total bigint not null,
  primary key (merchant_id, mode, from_at, until_at, line)
);
-- Payments that changed after the sums of their period may have been made. Until it is summed again, the period is read from
-- the payments.
create table late_changes (
  merchant_id text not null,
  tx_reference text not null,
  changed_at timestamptz not null,
  mode text not null,
  created_at timestamptz not null, -- of the payment
  primary key (merchant_id, tx_reference, changed_at)
);
-- Up to where the payments of a merchant are summed. The row is locked while they are.
create table report_progress (
  merchant_id text not null,
  mode text not null,
  summed_until timestamptz not null,
  primary key (merchant_id, mode)
);
