-- For expiry: only what still waits is in it, and new payments go to its end.
create index if not exists payments_due on payments (expires_at) where status = 'awaiting_payment';
