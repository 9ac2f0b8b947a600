-- beside the previous release: yes
-- The people who may sign in to the dashboard.
create table users (
  user_id text primary key,
  email text not null,
  name text not null,
  lang text not null,
  password_hash text, -- argon2id; null until the invitation is accepted
  operator_role text, -- null: works for merchants only
  sealed_totp bytea, -- the key of the second factor, sealed with the data key of the installation
  totp_step bigint, -- the last accepted time step, so that no code is accepted twice
  active boolean not null default true,
  created_at timestamptz not null,
  signed_in_at timestamptz
);
-- One account for each address.
create unique index users_by_email on users (email);
-- The roles of users at merchants.
create table memberships (
  merchant_id text not null,
  user_id text not null,
  role text not null check (role in ('owner', 'accountant', 'developer', 'cashier')),
  outlets text[], -- of a cashier; null: all outlets
  created_at timestamptz not null,
  primary key (merchant_id, user_id)
);
-- The merchants of a user.
create index memberships_by_user on memberships (user_id);
-- The sessions of browsers. Only a digest of the id is stored.
create table user_sessions (
  session_digest text primary key,
  user_id text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null, -- updated once a minute at most
  ends_at timestamptz not null,
  confirmed_at timestamptz, -- when the password or the second factor was last entered
  address text not null,
  agent text not null
);
-- The sessions of a user.
create index user_sessions_by_user on user_sessions (user_id);
-- For the cleanup.
create index user_sessions_by_end on user_sessions (ends_at);
