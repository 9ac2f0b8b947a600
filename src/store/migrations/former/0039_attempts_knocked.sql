-- Somebody knocked: it is asked about before those whose time has only come. Whoever takes it to ask takes this back.
alter table attempts add column if not exists knocked boolean not null default false;
