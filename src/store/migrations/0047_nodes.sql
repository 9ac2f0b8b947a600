-- beside the previous release: yes
-- The processes that run on this database, for operators, and for commands that need to know all of them. Each node
-- overwrites its own row every ten seconds, and removes it when it stops. Few rows; it belongs to no merchant.
create table nodes (
  node text primary key, -- one process; a restarted node has another
  number integer not null, -- of its advisory lock; changes when it was cut off for long
  is_listening boolean not null, -- it held that lock when it wrote the row; never behind a transaction-mode pooler
  name text not null, -- of its machine
  listens_at text not null, -- the address of its main port, as its machine sees it
  version text not null,
  schema integer not null, -- the last migration that it has
  key_ids text[] not null, -- of the master keys that it holds
  database_address text not null, -- core/installation/databaseAddress.ts
  clock_offset_ms double precision not null, -- how far the clock of its machine is ahead of the database's
  is_paused boolean not null, -- its workers pause, because the clock of the database has jumped
  runs_workers boolean not null,
  started_at timestamptz not null,
  seen_at timestamptz not null -- by the clock of the database server
);
