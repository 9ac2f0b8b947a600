-- beside the previous release: yes
-- The last reference of the payments of a summed period. A reference can be ahead of the time of its payment, after a clock was
-- set back; a report of a part of the period reads as far as this one. Null: it was summed before this migration.
alter table report_periods add column last_reference text collate "C";
