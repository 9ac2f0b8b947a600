-- outside a transaction: messages leave meanwhile. Nodes of the version before write no mailbox down.
create index concurrently if not exists messages_by_mailbox on messages ((coalesce(mailbox, recipient)), sent_at)
  where sent_at is not null;
