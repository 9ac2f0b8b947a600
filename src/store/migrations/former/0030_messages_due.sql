create index if not exists messages_due on messages (medium, next_try_at) where next_try_at is not null;
