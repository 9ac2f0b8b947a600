-- What was paid before. It reads, and locks no attempt; an account was not told from its channel then.
insert into paid_references (account, reference, merchant_id, attempt_id)
  select channel, provider_ref, merchant_id, attempt_id from attempts
  where state = 'paid' and provider_ref is not null
  on conflict (account, reference) do nothing;
