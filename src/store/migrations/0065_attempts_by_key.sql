-- outside a transaction: attempts go on meanwhile
-- A webhook names an order by the provider's key for it.
create index concurrently if not exists attempts_by_key on attempts (channel, order_key) where order_key is not null;
