-- outside a transaction: payments go on meanwhile
-- Those that have ended and still say who paid, oldest first.
create index concurrently if not exists payments_to_redact on payments (updated_at)
  where status <> 'awaiting_payment' and (redacted_at is null or redacted_at < updated_at);
