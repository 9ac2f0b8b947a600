-- One row per merchant. Three rules hold for all tables: merchant_id leads every key, so that the tables can be sharded by
-- it; money is in minor units; there are no sequences, triggers or functions, because ids, times and decisions come from
-- the program.
create table merchants (
  merchant_id text primary key,
  name text not null,
  active boolean not null default true,
  settings jsonb not null default '{}', -- as the operator set them
  master_key_id text not null, -- the master key that wraps wrapped_key
  wrapped_key bytea not null, -- the merchant's data key, which seals all its secrets
  sealed_ipn_password bytea, -- for live notifications in style basic; null: the password is the merchant_id
  sealed_test_ipn_password bytea, -- the same for test notifications
  created_at timestamptz not null
);
