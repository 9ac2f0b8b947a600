-- beside the previous release: yes
-- The ledger. A row moves an amount from the account that it credits to the account that it debits. Rows are only added: a
-- correction is a transfer back.
create table transfers (
  merchant_id text not null,
  transfer_id text collate "C" not null, -- the reference of the payment, then the cause: each cause is booked once
  mode text not null check (mode in ('test', 'live')),
  currency text not null,
  debit_account text not null,
  credit_account text not null check (credit_account <> debit_account),
  amount bigint not null check (amount > 0),
  kind text not null,
  tx_reference text,
  attempt_id text,
  refund_reference text,
  reason text not null default '',
  happened_at timestamptz not null, -- when the money moved
  created_at timestamptz not null, -- when it was written, by the database's clock: a seal is never followed by an earlier row
  primary key (merchant_id, transfer_id)
);
-- Statements, the rest of the day for balances, and seals. New rows of a merchant are neighbours.
create index transfers_by_time on transfers (merchant_id, created_at);

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'The ledger is append-only: % of % is refused. A correction is a transfer back.', tg_op, tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger transfers_append_only before update or delete or truncate on transfers
  for each statement execute function refuse_ledger_change();
