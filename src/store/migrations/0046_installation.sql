-- beside the previous release: yes
-- Whether this database is the installation itself, or a copy of it that must not act. One row, written by the first node.
-- Not sharded: it belongs to no merchant.
create table installation (
  only_row boolean primary key default true check (only_row),
  system_identifier text, -- of the database server; null: the role of the gateway may not read it
  state text not null check (state in ('original', 'copy', 'moved')), -- what commands have set; nodes detect other copies
  reason text not null default '', -- why it is a copy, for people
  moved_to text not null default '', -- the address of the database that replaces a moved one
  since timestamptz not null -- of the state
);

-- The addresses at which nodes have used this database: core/installation/databaseAddress.ts.
create table installation_addresses (
  address text primary key,
  recorded_at timestamptz not null
);
