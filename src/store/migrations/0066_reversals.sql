-- Money that went back after it was paid: a mark on the payment, and an entry of the feed that is no status.
alter table payments add column if not exists reversed_at timestamptz;
alter table notifications add column if not exists type text not null default 'status';
