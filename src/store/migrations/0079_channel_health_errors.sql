-- Why calls to a provider are not answered: its last words, and whether it refuses our credentials.
alter table channel_health
  add column if not exists last_error text,
  add column if not exists last_error_at timestamptz,
  add column if not exists is_refused boolean not null default false;
