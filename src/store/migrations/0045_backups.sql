-- beside the previous release: yes
-- The backups that tollgate backup has finished: when the last one was made, and whether it was restored once to verify it.
-- Not sharded: they belong to no merchant.
create table backups (
  backup_id text primary key,
  taken_at timestamptz not null, -- of the snapshot: later changes are not in the backup
  finished_at timestamptz not null,
  bytes bigint not null,
  payments bigint not null,
  is_encrypted boolean not null,
  verified_at timestamptz -- when it was restored into a scratch database and found complete; null: never
);
-- The last one.
create index backups_by_time on backups (taken_at);
