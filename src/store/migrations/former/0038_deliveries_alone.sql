-- True only while no other delivery of the same payment has not ended, so that taking one does not have to look for
-- others. False means that nobody has counted: so it is for what was there before, and for what an older node adds.
alter table deliveries add column if not exists alone boolean not null default false;
