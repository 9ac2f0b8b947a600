-- Refunds and disputes as the provider numbers them, so that each is recorded once and with its own amount.
alter table payments
  add column if not exists paid_attempt_id text,
  add column if not exists reversed_amount bigint;
update tasks set kind = 'dispute_opened' where kind = 'charged_back';
create table if not exists reversals (
  merchant_id text not null,
  attempt_id text not null,
  reversal_id text not null,
  tx_reference text not null,
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  reversed_at timestamptz not null,
  created_at timestamptz not null,
  primary key (merchant_id, attempt_id, reversal_id)
);
create table if not exists disputes (
  merchant_id text not null,
  attempt_id text not null,
  dispute_id text not null,
  tx_reference text not null,
  state text not null check (state in ('open', 'won', 'lost')),
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  due_at timestamptz,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  primary key (merchant_id, attempt_id, dispute_id)
);
