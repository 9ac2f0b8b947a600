-- The language in which the customer saw the page; messages speak it.
alter table attempts add column if not exists lang text;
