-- outside a transaction: attempts go on meanwhile
create index concurrently if not exists attempts_due_by_channel on attempts (channel, knocked, next_ask_at)
  where next_ask_at is not null;
