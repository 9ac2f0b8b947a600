-- outside a transaction
-- beside the previous release: yes

-- The dashboard's search by amount, among paid payments: those that are not paid are found by reading the newest ones. So
-- nothing is written when a payment is initiated. The time in the reference leads, as in payments_by_number.
create index concurrently if not exists payments_paid_by_amount
  on payments (left(tx_reference, 6), merchant_id, total) where status = 'paid';
-- The same by the beginning of the customer's name.
create index concurrently if not exists payments_paid_by_name
  on payments (left(tx_reference, 6), merchant_id, (lower(name) collate "C")) where status = 'paid' and name is not null;
