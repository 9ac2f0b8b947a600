-- The access token of an account that all nodes share, for providers where a new token invalidates the one before. The
-- node that requests a new token claims the row first, for a limited time, so that another node takes over if it dies.
-- Not sharded: it belongs to no merchant.
create table provider_tokens (
  provider_account text primary key, -- the account's name
  master_key_id text, -- the master key that wraps wrapped_key
  wrapped_key bytea,
  sealed_token bytea, -- null until the first token
  made_at timestamptz,
  expires_at timestamptz,
  maker text, -- the claim of the node that requests the next token
  maker_until timestamptz
);
