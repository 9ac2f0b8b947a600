-- Charges that the customer's bank disputes. An open dispute moves no money; a lost one does.
create table disputes (
  merchant_id text not null,
  attempt_id text not null,
  dispute_id text not null, -- the provider's id of the dispute
  tx_reference text not null,
  state text not null check (state in ('open', 'won', 'lost')),
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  due_at timestamptz, -- the provider's deadline for evidence
  opened_at timestamptz not null,
  resolved_at timestamptz,
  primary key (merchant_id, attempt_id, dispute_id)
);
