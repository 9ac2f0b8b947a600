create index if not exists notifications_by_time on notifications (merchant_id, created_at);
