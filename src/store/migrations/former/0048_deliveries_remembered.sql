-- outside a transaction: deliveries go on meanwhile
-- Whose last try is still written down, oldest first: who forgets them reads no others.
create index concurrently if not exists deliveries_remembered on deliveries (last_try_at) where last_try is not null;
