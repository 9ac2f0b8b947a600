-- The customer wished to go on without it, and to what: another number or another way. Only the provider ends it.
alter table attempts
  add column if not exists gave_up_at timestamptz,
  add column if not exists gave_up_for text;
