-- Single-use links that sign an operator in to the support pages. A used link is deleted; creating a link deletes expired
-- ones. The digest is keyed with a sealed secret, so that inserting a row does not create a valid link. Not sharded.
create table support_links (
  link_digest text primary key,
  expires_at timestamptz not null
);
