-- What is known of an order on its way: when the provider first showed that it has it; how often it was handed to the
-- channel; when it was sent once more although it may have arrived; when the customer last came back from the provider's
-- page and made us ask.
alter table attempts
  add column if not exists acknowledged_at timestamptz,
  add column if not exists sends integer not null default 1,
  add column if not exists resent_at timestamptz,
  add column if not exists returned_at timestamptz;
