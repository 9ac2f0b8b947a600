create index if not exists attempts_due on attempts (next_ask_at) where next_ask_at is not null;
