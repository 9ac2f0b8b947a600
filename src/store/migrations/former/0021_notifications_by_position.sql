create unique index if not exists notifications_by_position on notifications (merchant_id, mode, position);
