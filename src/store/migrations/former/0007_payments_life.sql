-- How a payment went, told by a status check without a look at its attempts. All of it empty until somebody pays,
-- so that storing a payment costs what it did.
alter table payments
  add column if not exists late boolean not null default false,
  add column if not exists cancel_wished_at timestamptz,
  add column if not exists payment_method text,
  add column if not exists payment_instrument text,
  add column if not exists payment_reference text,
  add column if not exists payment_time timestamptz,
  add column if not exists charged bigint,
  add column if not exists card_type text,
  add column if not exists psp_response_code text,
  add column if not exists psp_response_msg text;
