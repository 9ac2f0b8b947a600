-- beside the previous release: yes
-- The changes that users, commands and the support token made. Rows are only added. They hold ids and no customer data, so
-- that erasing a person changes none of them. They are sealed in ledger_seals, as the chain "audit".
create table audit_entries (
  entry_id text collate "C" primary key, -- begins with the time
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('user', 'command', 'token')),
  actor_id text not null,
  address text not null,
  merchant_id text, -- null: a change of the installation
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  created_at timestamptz not null default clock_timestamp() -- by the database's clock: a seal is never followed by an earlier row
);
-- The log of one merchant.
create index audit_entries_by_merchant on audit_entries (merchant_id, entry_id);
-- What one person or command did.
create index audit_entries_by_actor on audit_entries (actor_id, entry_id);
-- What happened to one payment, user or account.
create index audit_entries_by_subject on audit_entries (subject, entry_id);
-- Every change of one sort, such as who looked at full numbers.
create index audit_entries_by_action on audit_entries (action, entry_id);
-- Seals.
create index audit_entries_by_time on audit_entries (created_at, entry_id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is append-only: % of % is refused.', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();
