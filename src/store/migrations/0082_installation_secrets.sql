-- The secrets of the installation itself, in one row that all nodes share, and the single-use links that sign an operator
-- in to the support pages.
create table if not exists installation_secrets (
  only_row boolean primary key default true check (only_row),
  master_key_id text not null,
  wrapped_key bytea not null,
  sealed_support_token bytea not null,
  sealed_form_key bytea not null,
  created_at timestamptz not null
);
create table if not exists support_links (
  link_digest text primary key,
  expires_at timestamptz not null
);
