-- The simulated provider's own books. Nothing of ours refers to them: we know the provider by its wire alone. There is
-- no column for a status: it follows from the ending, the decision and the time. No column could hold a card number.
create table if not exists sandbox_charges (
  merchant_id text not null,
  reference text not null,
  method text not null,
  payer text,
  amount bigint not null,
  currency text not null,
  payee text not null,
  note text,
  ending text not null,
  callback_url text not null,
  return_url text not null,
  decided text,
  decided_at timestamptz,
  card_type text,
  card_last4 text check (length(card_last4) = 4),
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
