-- What is due is looked for by channel.
drop index if exists attempts_due;
