-- The scope of MTN's references had the API user in it, a credential that is rotated.
insert into paid_references (account, reference, merchant_id, attempt_id)
  select regexp_replace(account, '^(mtn \S+) \S+$', '\1'), reference, merchant_id, attempt_id
  from paid_references where account ~ '^mtn \S+ \S+$'
  on conflict (account, reference) do nothing;
delete from paid_references where account ~ '^mtn \S+ \S+$';
