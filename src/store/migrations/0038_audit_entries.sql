-- beside the previous release: yes
-- The changes that users, commands and the support token made. Rows are only added. They hold ids and no customer data, so
-- that erasing a person changes none of them.
create table audit_entries (
  entry_id text primary key, -- begins with the time
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('user', 'command', 'token')),
  actor_id text not null,
  address text not null,
  merchant_id text, -- null: a change of the installation
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb
);
-- The log of one merchant.
create index audit_entries_by_merchant on audit_entries (merchant_id, entry_id);
