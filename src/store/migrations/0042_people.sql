-- beside the previous release: yes
-- Answered challenges of passkeys, until they expire, so that no answer is accepted twice.
create table used_challenges (
  challenge_digest text primary key,
  expires_at timestamptz not null
);
-- For the cleanup.
create index used_challenges_by_end on used_challenges (expires_at);
-- The people with a role at the operator.
create index users_operators on users (user_id) where operator_role is not null;
-- The cleanup of expired links.
create index user_links_by_end on user_links (expires_at);
