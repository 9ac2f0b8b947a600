-- outside a transaction: attempts_open holds the same, and more
drop index concurrently if exists attempts_unresolved;
