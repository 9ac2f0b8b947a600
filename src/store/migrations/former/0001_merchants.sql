-- A merchant, its settings as the operator typed them, and its data key wrapped by the master key.
create table if not exists merchants (
  merchant_id text primary key,
  name text not null,
  active boolean not null default true,
  settings jsonb not null default '{}',
  master_key_id text not null,
  wrapped_key bytea not null,
  created_at timestamptz not null
);
