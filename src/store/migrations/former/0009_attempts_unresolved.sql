-- One unresolved attempt at a time per payment, whatever the program believes.
create unique index if not exists attempts_unresolved on attempts (merchant_id, tx_reference)
  where state in ('started', 'pending', 'unknown', 'disputed');
