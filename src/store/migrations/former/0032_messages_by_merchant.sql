create index if not exists messages_by_merchant on messages (merchant_id, sent_at) where sent_at is not null;
