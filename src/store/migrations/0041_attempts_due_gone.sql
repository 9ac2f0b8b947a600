-- outside a transaction: attempts go on meanwhile. What is due is looked for by channel.
drop index concurrently if exists attempts_due;
