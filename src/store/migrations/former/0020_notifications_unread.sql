create index if not exists notifications_unread on notifications (merchant_id, mode, created_at)
  where position is null;
