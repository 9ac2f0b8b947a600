-- beside the previous release: yes
-- The currency in which a provider charged, if it is not the payment's. The ledger books the charge in it.
alter table attempts add column if not exists charged_currency text;
-- The task has it for charges from before.
update attempts a set charged_currency = t.currency
  from tasks t, payments p
  where t.merchant_id = a.merchant_id and t.attempt_id = a.attempt_id and t.kind = 'amount_mismatch'
    and p.merchant_id = a.merchant_id and p.tx_reference = a.tx_reference and t.currency <> p.currency
    and a.charged is not null;
