-- The test phone looks for what waits for a number, whoever asks.
create index if not exists sandbox_charges_by_payer on sandbox_charges (payer, created_at);
