-- Which business at the provider an account's credentials belong to, so that open attempts are never asked about, nor sent
-- again, at another business under the same account name.
create table if not exists provider_businesses (
  account text not null,
  credentials_digest text not null,
  first_business text not null,
  business text not null,
  seen_at timestamptz not null,
  confirmed_at timestamptz,
  version bigint not null,
  primary key (account, credentials_digest)
);
