-- beside the previous release: yes
-- Refunds above a merchant's limit that a second person approves. The refund that an approval creates has its reference, so
-- that one approval creates one refund. Ids and amounts only, and the reasons that its users gave.
create table refund_approvals (
  merchant_id text not null,
  refund_reference text not null, -- of the refund to create; starts with the merchant's id
  mode text not null check (mode in ('test', 'live')),
  tx_reference text not null,
  invoice_id text not null,
  attempt_number integer not null, -- of the charge
  source text not null check (source in ('payment', 'surplus', 'fee')),
  amount bigint not null check (amount > 0),
  currency text not null,
  reason text not null default '',
  requested_by text not null check (requested_by in ('merchant', 'operator')),
  requester_id text not null, -- the user who asked; another user decides
  state text not null check (state in ('waiting', 'approved', 'rejected')),
  decider_id text, -- the user who decided
  decision_reason text not null default '', -- of a rejection
  created_at timestamptz not null,
  expires_at timestamptz not null, -- not approved from then on
  decided_at timestamptz,
  primary key (merchant_id, refund_reference)
);
-- A merchant's approvals by time.
create index refund_approvals_by_time on refund_approvals (merchant_id, created_at);
-- Those of a payment.
create index refund_approvals_of_payment on refund_approvals (merchant_id, tx_reference);
-- What waits, at all merchants, for the operator.
create index refund_approvals_waiting on refund_approvals (created_at) where state = 'waiting';
