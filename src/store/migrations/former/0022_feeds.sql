-- How far the feed of a merchant is numbered. Whoever numbers holds the row.
create table if not exists feeds (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  position bigint not null default 0,
  primary key (merchant_id, mode)
);
