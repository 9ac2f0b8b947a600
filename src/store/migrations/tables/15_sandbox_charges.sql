-- The reasons stand in ../../schema.sql.
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
  decided text,
  decided_at timestamptz,
  callback_url text not null,
  return_url text not null,
  card_type text,
  card_last4 text check (length(card_last4) = 4),
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
create index if not exists sandbox_charges_by_payer on sandbox_charges (payer, created_at);
