create index if not exists attempts_by_instrument on attempts (merchant_id, instrument, created_at)
  where state <> 'paid';
