-- The business at the provider that an account's credentials belong to. The first credentials of an account create a
-- business. Other credentials create another one, unless an operator confirms that it is the same. Known credentials
-- restore their business. Open attempts are never polled or resent at another business. Not sharded.
create table provider_businesses (
  account text not null, -- an account from environment variables has the name of its provider
  credentials_digest text not null, -- tells credentials apart without revealing them
  first_business text not null, -- the id when the credentials were first used; attempts may carry it
  business text not null, -- differs from first_business after an operator confirmed that it is the same business
  seen_at timestamptz not null,
  confirmed_at timestamptz,
  version bigint not null, -- one above the highest version in the table; every node reads the highest each second
  primary key (account, credentials_digest)
);
