-- The visits that were sent on to the shop by themselves. One is, once, and only a few of one payment.
alter table payments add column if not exists left_by text[] not null default '{}';
