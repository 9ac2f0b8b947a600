-- beside the previous release: yes
-- Refunds of the simulated provider, of the charges in sandbox_charges. As there, the status follows from ending and the
-- time. They contain no personal data.
create table sandbox_refunds (
  merchant_id text not null,
  reference text not null, -- chosen by the gateway
  charge text not null, -- the reference of the charge
  amount bigint not null check (amount > 0),
  currency text not null,
  ending text not null, -- the outcome
  is_final_failure boolean not null, -- then it moves no money, and the amount can be refunded again
  callback_url text not null,
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
-- All refunds of a charge together never exceed it.
create index sandbox_refunds_of_charge on sandbox_refunds (merchant_id, charge);
