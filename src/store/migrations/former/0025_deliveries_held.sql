create index if not exists deliveries_held on deliveries (merchant_id, lane, begun_at) where held;
