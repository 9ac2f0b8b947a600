create index if not exists deliveries_by_last_try on deliveries using brin (last_try_at);
