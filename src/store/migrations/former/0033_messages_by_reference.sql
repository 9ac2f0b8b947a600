create index if not exists messages_by_reference on messages (provider_ref) where provider_ref is not null;
