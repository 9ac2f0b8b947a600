-- Who asks about an attempt holds a lease, which no index knows: with room for it, the row stays in its page, and a take
-- costs no index a change. `next_ask_at` stays as it is until there is an answer.
alter table attempts add column if not exists lease_until timestamptz, set (fillfactor = 50);
