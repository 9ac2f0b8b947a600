-- When what is known of the payer was removed. What changes later is removed again.
alter table payments add column if not exists redacted_at timestamptz;
