-- One notification password per mode. The existing column is the live one from now on; nodes of the version before use
-- it for both modes. The test one starts with the same value, until one of them is rotated.
alter table merchants add column if not exists sealed_test_ipn_password bytea;
update merchants set sealed_test_ipn_password = sealed_ipn_password
  where sealed_ipn_password is not null and sealed_test_ipn_password is null;
