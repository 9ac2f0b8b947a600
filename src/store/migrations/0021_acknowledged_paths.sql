-- How often the paths of URLs in requests were acknowledged, by the hour. The path acknowledged most has a lane of its
-- own. Nodes add to the counts every few seconds at most; lost counts do no harm.
create table acknowledged_paths (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  origin text not null, -- scheme, host and port
  path text not null, -- a digest of the path without its query
  hour timestamptz not null, -- start of the hour
  paid integer not null, -- notifications of paid payments
  acknowledged integer not null, -- all notifications
  primary key (merchant_id, mode, origin, path, hour)
);
