create index if not exists merchant_keys_by_key on merchant_keys (merchant_key);
