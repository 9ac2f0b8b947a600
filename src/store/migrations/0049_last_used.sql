-- beside the previous release: yes
-- When a credential was last used, at most an hour too early: src/workers/lastUses.ts writes it once an hour. Null if it was
-- not used since this migration. A node of the previous release writes none.
alter table merchant_keys add column last_used_at timestamptz; -- a request with the key was accepted
alter table ipn_secrets add column last_used_at timestamptz; -- it signed a notification that was sent
