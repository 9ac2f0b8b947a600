-- beside the previous release: yes
-- The days for which the heads of the ledger were mailed to the operator, so that one node does it. Not sharded: they belong
-- to no merchant.
create table ledger_mails (
  day_at timestamptz primary key, -- the beginning of the day
  sent_at timestamptz not null
);
