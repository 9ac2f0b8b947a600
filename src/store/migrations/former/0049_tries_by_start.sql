-- outside a transaction: tries go on meanwhile
-- Old tries make room for new ones all over the table, so its blocks tell nothing about their age.
create index concurrently if not exists tries_by_start on tries (started_at);
