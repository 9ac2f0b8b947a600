-- The rights of the gateway's role. The owner of the tables, or a superuser, runs it after each migration:
-- psql -v ON_ERROR_STOP=1 tollgate < runtime-role.sql
-- The ledger, its seals and the audit log can be read and added to, and nothing else.
grant usage on schema public to tollgate_runtime;
grant select, insert, update, delete on all tables in schema public to tollgate_runtime;
revoke update, delete on transfers, ledger_seals, audit_entries from tollgate_runtime;
