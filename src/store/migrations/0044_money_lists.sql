-- outside a transaction
-- beside the previous release: yes

-- The refunds of a merchant in one state, newest first.
create index concurrently if not exists refunds_by_state
  on refunds (merchant_id, mode, state, created_at, refund_reference);
-- The disputes of a merchant, newest first.
create index concurrently if not exists disputes_by_time on disputes (merchant_id, opened_at);
-- The open ones, which are few.
create index concurrently if not exists disputes_open on disputes (merchant_id, opened_at) where state = 'open';
-- The reversals of a merchant, newest first.
create index concurrently if not exists reversals_by_time on reversals (merchant_id, created_at);
