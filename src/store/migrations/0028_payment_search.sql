-- outside a transaction
-- beside the previous release: yes

-- The search of support staff by the phone number of a payment. The first six characters of a reference are its time, to
-- twelve days. They lead, so that new entries are neighbours: without them each payment would write to another page.
create index concurrently if not exists payments_by_number
  on payments (left(tx_reference, 6), number, created_at) where number is not null;
-- The same by email address.
create index concurrently if not exists payments_by_email
  on payments (left(tx_reference, 6), lower(email), created_at) where email is not null;
-- The search by a wallet number. Attempts that are not paid are found by attempts_by_instrument.
create index concurrently if not exists attempts_paid_by_instrument
  on attempts (instrument, created_at) where state = 'paid' and instrument is not null;
-- The search by a provider's reference.
create index concurrently if not exists attempts_by_provider_ref
  on attempts (provider_ref) where provider_ref is not null;
