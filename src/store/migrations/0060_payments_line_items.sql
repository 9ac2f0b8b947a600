-- What a payment is for, line by line. Nodes of the version before write none, and read none.
alter table payments add column if not exists line_items jsonb;
