create index if not exists attempts_by_payer on attempts (merchant_id, payer, created_at) where state <> 'paid';
