-- outside a transaction: reading and writing go on meanwhile
-- deliveries_remembered and tries_by_start do what these did, and read nothing else.
drop index concurrently if exists deliveries_by_last_try;
drop index concurrently if exists tries_by_time;
-- attempts_due_by_channel serves its few readers as well.
drop index concurrently if exists attempts_due;
-- notifications_numbered is the same without those that have no number.
drop index concurrently if exists notifications_by_position;
