create index if not exists deliveries_due on deliveries (retry, next_try_at) where next_try_at is not null;
