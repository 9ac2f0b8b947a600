-- One attempt to pay a payment through one provider account. Half of each page stays free: a poll writes a lease, which is
-- in no index, so that the new row version fits into the same page and no index changes.
create table attempts (
  merchant_id text not null,
  attempt_id text not null,
  tx_reference text not null,
  number integer not null, -- counts per payment; a form carries the next number, so that a double click is one attempt
  provider_account text not null, -- the provider account
  mode text, -- of the payment and of the account
  account_identity text, -- the provider's environment and business; the account must still have it when it is polled
  idempotency_key text, -- the id of the attempt at the provider; null: the attempt_id
  payment_method text not null,
  state text not null
    check (state in ('started', 'not_sent', 'pending', 'needs_input', 'unknown', 'disputed', 'paid', 'failed')),
  reason text,
  instrument text,
  payer text, -- a digest of the customer's IP address, to count attempts by it
  lang text, -- of the page; messages use it
  given jsonb not null default '{}', -- the customer's input, until the attempt ends
  -- from the provider
  provider_ref text,
  redirect_url text,
  qr text,
  step jsonb, -- the input that the provider asks for next
  provider_text text, -- for the customer
  provider_time timestamptz,
  charged bigint,
  fee bigint,
  net bigint,
  card_type text,
  psp_response_code text,
  psp_response_msg text,
  provider_code text, -- the provider's raw code, for operators
  declined_at timestamptz, -- a card was declined on the provider's page, which is still open
  check_reversals boolean not null default false, -- a webhook named a refund or a dispute, so the next poll reads them
  -- requests to the provider
  sends integer not null default 1,
  resent_at timestamptz, -- sent again although the first request may have arrived
  submits integer not null default 0, -- how often the customer submitted input for a step
  submitted_at timestamptz,
  acknowledged_at timestamptz, -- the provider has shown that it has the order
  returned_at timestamptz, -- the customer came back from the provider's page, which causes a poll
  gave_up_at timestamptz, -- the customer chose to go on without it; only the provider ends the attempt
  gave_up_for text, -- another number or another payment method
  -- polling
  polls integer not null default 0,
  next_poll_at timestamptz, -- unchanged until an answer is stored; null: resolved
  callback_received boolean not null default false, -- after a callback: polled before those that are only due
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (merchant_id, attempt_id),
  unique (merchant_id, tx_reference, number),
  foreign key (merchant_id, tx_reference) references payments (merchant_id, tx_reference)
) with (fillfactor = 50);
-- Guarantees one unresolved attempt per payment, whatever the program does and whatever states are added.
create unique index attempts_open on attempts (merchant_id, tx_reference) where state not in ('paid', 'failed');
-- Due polls by account, so that a provider that is down does not delay the others.
create index attempts_due_by_account on attempts (provider_account, callback_received, next_poll_at) where next_poll_at is not null;
-- Counts failed attempts per wallet or card before each new one, against card testing.
create index attempts_by_instrument on attempts (merchant_id, instrument, created_at) where state <> 'paid';
-- The same by the customer's IP address.
create index attempts_by_payer on attempts (merchant_id, payer, created_at) where state <> 'paid';
-- A webhook names an order by its id at the provider.
create index attempts_by_key on attempts (provider_account, idempotency_key) where idempotency_key is not null;
