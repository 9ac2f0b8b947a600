create index if not exists messages_by_recipient on messages (recipient, sent_at) where sent_at is not null;
