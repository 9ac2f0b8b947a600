create index if not exists deliveries_exhausted on deliveries (merchant_id, exhausted_at)
  where exhausted_at is not null;
