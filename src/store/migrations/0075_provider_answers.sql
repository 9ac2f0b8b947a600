-- What a later answer is compared with: the mode and the provider's business that an attempt belongs to, the provider's
-- raw code, a decline on a page that is still open, and whether refunds and disputes have to be read.
alter table attempts
  add column if not exists mode text,
  add column if not exists account_identity text,
  add column if not exists provider_code text,
  add column if not exists declined_at timestamptz,
  add column if not exists check_reversals boolean not null default false;
