-- outside a transaction: attempts go on meanwhile
-- One unresolved attempt at a time per payment, whatever states there are.
create unique index concurrently if not exists attempts_open on attempts (merchant_id, tx_reference)
  where state not in ('paid', 'failed');
