-- Whom a message reaches, in one spelling: what the cap per recipient counts by.
alter table messages add column if not exists mailbox text;
