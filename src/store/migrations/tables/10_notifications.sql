-- The reasons stand in ../../schema.sql.
create table if not exists notifications (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  status text not null,
  body text not null,
  created_at timestamptz not null,
  position bigint,
  primary key (merchant_id, tx_reference, sequence)
);
create index if not exists notifications_by_time on notifications (merchant_id, created_at);
create index if not exists notifications_unread on notifications (merchant_id, mode, created_at)
  where position is null;
create unique index if not exists notifications_numbered on notifications (merchant_id, mode, position)
  where position is not null;
