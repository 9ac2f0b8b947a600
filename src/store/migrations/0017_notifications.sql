-- One notification for each change of a payment's status, with the exact bytes that every try sends. It exists with or
-- without a URL to deliver it to. Refunds and disputes have types of their own and are in the feed only.
create table notifications (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  status text not null,
  type text not null default 'status', -- or reversed, dispute_opened, dispute_won, dispute_lost
  body text not null,
  created_at timestamptz not null,
  position bigint, -- in the merchant's feed, assigned when the feed is read
  primary key (merchant_id, tx_reference, sequence)
);
-- Lists and redeliveries by time, and the feed from a time on.
create index notifications_by_time on notifications (merchant_id, created_at);
-- Notifications without a position, which the next read of the feed numbers.
create index notifications_unread on notifications (merchant_id, mode, created_at) where position is null;
-- The feed from a position on. Unique: each position is assigned once.
create unique index notifications_numbered on notifications (merchant_id, mode, position)
  where position is not null;
