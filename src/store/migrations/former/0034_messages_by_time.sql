create index if not exists messages_by_time on messages (created_at);
