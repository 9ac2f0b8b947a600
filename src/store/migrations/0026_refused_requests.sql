-- beside the previous release: yes
-- API requests of merchants that were refused, without secrets and with masked personal data. Kept for 30 days. Accepted
-- requests are payments already.
create table refused_requests (
  merchant_id text not null,
  request_id text not null,
  mode text not null check (mode in ('test', 'live')),
  refused_at timestamptz not null,
  method text not null,
  path text not null, -- without its query
  http integer not null,
  code text not null,
  field text,
  message text not null,
  hint jsonb,
  fields jsonb not null, -- masked and truncated
  primary key (merchant_id, request_id)
);
-- The newest requests of a merchant.
create index refused_requests_by_time on refused_requests (merchant_id, refused_at, request_id);
-- For the cleanup.
create index refused_requests_by_age on refused_requests (refused_at);
