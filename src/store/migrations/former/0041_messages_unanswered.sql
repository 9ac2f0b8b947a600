-- How often it has left since something was last written down of what came of it.
alter table messages add column if not exists unanswered integer not null default 0;
