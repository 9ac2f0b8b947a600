-- Secrets of the installation, in one row that all nodes share. Not sharded: they belong to no merchant.
create table installation_secrets (
  only_row boolean primary key default true check (only_row),
  master_key_id text not null, -- the master key that wraps wrapped_key
  wrapped_key bytea not null, -- the data key that seals the secrets below
  sealed_support_token bytea not null, -- for /support, /inbox and /metrics, unless TOLLGATE_SUPPORT_TOKEN is set
  sealed_form_key bytea not null, -- signs the forms of the gateway's pages
  created_at timestamptz not null
);
