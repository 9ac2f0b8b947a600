-- The reasons stand in ../../schema.sql.
create table if not exists feeds (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  position bigint not null default 0,
  primary key (merchant_id, mode)
);
