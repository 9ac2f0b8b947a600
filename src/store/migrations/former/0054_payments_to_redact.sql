-- outside a transaction: payments go on meanwhile
-- Those that have ended and still say who paid, oldest first. By a time that never changes: a payment whose status stays
-- as it is can keep its place in the page.
create index concurrently if not exists payments_to_redact on payments (expires_at)
  where status <> 'awaiting_payment' and redacted_at is null;
