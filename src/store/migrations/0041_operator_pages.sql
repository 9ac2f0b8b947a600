-- beside the previous release: yes
-- What the operator's pages store.
-- What one node has counted in one minute, for the live view. Each node overwrites its own rows, so a repeated write changes
-- nothing; a node without traffic writes nothing. Kept for eight days. Not sharded: it belongs to no merchant.
create table node_minutes (
  minute timestamptz not null,
  node text not null, -- one process; a restarted node has another name
  started_live integer not null,
  started_test integer not null,
  counts jsonb not null, -- attempts that ended, delays and refusals: core/operator/minuteCounts.ts
  primary key (minute, node)
);

-- Keys that wait for a merchant behind a one-time link. The address is computed from the id and the form key of the
-- installation, so that the table does not open it.
create table key_handovers (
  merchant_id text not null,
  handover_id text not null,
  sealed_keys bytea, -- sealed with the data key of the merchant; null: opened or revoked
  made_by text not null, -- a user
  created_at timestamptz not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  revoked_at timestamptz,
  primary key (merchant_id, handover_id)
);

-- Who works on a task, and what that person has written about it. The note is for operators and not in the audit log.
alter table tasks add column owner text; -- a user
alter table tasks add column owner_note text not null default '';
alter table tasks add column worked_at timestamptz; -- the last change of owner or note

-- The inbox, newest first, and the count of open tasks. Few tasks are open.
create index tasks_open on tasks (created_at, tx_reference, kind) where closed_at is null;
-- The tasks that were closed, newest first.
create index tasks_closed on tasks (closed_at, tx_reference, kind) where closed_at is not null;
-- The list of merchants by name, and the search by the beginning of a name.
create index merchants_by_name on merchants (lower(name) collate "C", merchant_id);
-- Messages that were given up, newest first. Few are.
create index messages_dropped on messages (created_at, message_id, merchant_id) where state = 'dropped';
-- The list of refunds that wait for a person.
create index refunds_to_record on refunds (created_at) where state in ('needs_action', 'unknown');
