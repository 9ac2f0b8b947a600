-- beside the previous release: yes
-- A chain of digests over each merchant's transfers: a transfer that is changed, removed or inserted later does not fit its
-- seal. A seal covers the transfers created from the end of the one before it.
create table ledger_seals (
  merchant_id text not null,
  number integer not null, -- 1, 2, 3
  until_at timestamptz not null, -- transfers created before it are included
  transfers bigint not null,
  row_digests bytea not null, -- eight bytes for each row, in order, to name the row that does not fit
  digest bytea not null, -- of the digest before, the period and the rows
  created_at timestamptz not null,
  primary key (merchant_id, number)
);
create trigger ledger_seals_append_only before update or delete or truncate on ledger_seals
  for each statement execute function refuse_ledger_change();
