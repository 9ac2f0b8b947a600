-- Charges of the simulated provider. No other table refers to them: the gateway talks to the sandbox over HTTP, as to any
-- provider. There is no status column, because the status follows from ending, decided and the time; and no column that
-- could hold a card number.
create table sandbox_charges (
  merchant_id text not null,
  reference text not null,
  method text not null,
  payer text,
  amount bigint not null,
  currency text not null,
  payee text not null,
  note text,
  ending text not null, -- the outcome if the tester decides nothing
  decided text, -- the outcome that the tester chose
  decided_at timestamptz,
  callback_url text not null,
  return_url text not null,
  card_type text,
  card_last4 text check (length(card_last4) = 4),
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
-- The test phone lists the charges that wait for a number, of all merchants.
create index sandbox_charges_by_payer on sandbox_charges (payer, created_at);
