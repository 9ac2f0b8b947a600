-- beside the previous release: yes
-- How many requests of a merchant were refused, by day (UTC) and code. It limits how many of them are stored, and counts
-- the others. Nodes add to the counts once a second at most; a count that is added twice does no harm.
create table refused_counts (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  day date not null,
  code text not null,
  refused integer not null,
  primary key (merchant_id, mode, day, code)
);
-- For the cleanup.
create index refused_counts_by_day on refused_counts (day);
