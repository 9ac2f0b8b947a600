-- outside a transaction: notifications go on meanwhile
-- The feed, where somebody reads it: what has no number yet is not in it.
create unique index concurrently if not exists notifications_numbered on notifications (merchant_id, mode, position)
  where position is not null;
