-- The last position assigned in each merchant's feed. A transaction that assigns positions locks the row.
create table feeds (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  position bigint not null default 0,
  primary key (merchant_id, mode)
);
