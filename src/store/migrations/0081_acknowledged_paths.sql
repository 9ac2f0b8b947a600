-- How often the paths that requests name were acknowledged, by the hour: the path acknowledged most has a lane of its own.
create table if not exists acknowledged_paths (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  origin text not null,
  path text not null,
  hour timestamptz not null,
  paid integer not null,
  acknowledged integer not null,
  primary key (merchant_id, mode, origin, path, hour)
);
