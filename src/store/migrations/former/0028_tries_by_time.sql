create index if not exists tries_by_time on tries using brin (started_at);
