-- beside the previous release: yes
-- The people who may sign in to the dashboard.
create table users (
  user_id text primary key,
  email text collate "C" not null, -- so that its index finds the beginning of an address
  name text not null,
  lang text not null,
  password_hash text, -- argon2id; null until the invitation is accepted
  operator_role text, -- null: works for merchants only
  sealed_totp bytea, -- the key of the second factor, sealed with the data key of the installation
  totp_step bigint, -- the last accepted time step, so that no code is accepted twice
  recovery_digests text[] not null default '{}', -- of the recovery codes that are left; each is used once
  is_demo boolean not null default false, -- shows a new installation to its first visitor
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
-- Passkeys. Each signs its user in with both factors.
create table passkeys (
  passkey_id text primary key, -- the credential id of the authenticator
  user_id text not null,
  name text not null,
  public_key bytea not null,
  sign_count bigint not null, -- of the last use; a lower one reveals a copy
  created_at timestamptz not null,
  used_at timestamptz
);
-- The passkeys of a user.
create index passkeys_by_user on passkeys (user_id);
-- Single-use links for invited people and for new passwords. The link is signed with the form key, so that a copy of this
-- table opens nothing.
create table user_links (
  link_id text primary key,
  purpose text not null check (purpose in ('invitation', 'reset')),
  user_id text, -- of a reset
  email text not null,
  operator_role text, -- of an invitation to the operator's part
  merchant_id text, -- of an invitation to a merchant
  role text,
  outlets text[],
  invited_by text, -- null: by a command
  created_at timestamptz not null,
  expires_at timestamptz not null
);
-- The open invitations of a merchant.
create index user_links_by_merchant on user_links (merchant_id, created_at);
-- The links of a person, which end together.
create index user_links_by_email on user_links (email);
-- Mails to users that wait to be sent. A mail with a link holds the id of the link, never the link.
create table user_mails (
  mail_id text primary key,
  email text not null,
  lang text not null,
  kind text not null,
  details jsonb not null,
  due_at timestamptz not null,
  tries int not null default 0,
  created_at timestamptz not null
);
-- What the sender takes next.
create index user_mails_by_due on user_mails (due_at);
