-- What a provider knows an attempt by, what it asks the customer for after the start, and what it tells of money and time.
-- Nodes of the version before write none of it, and take what needs the customer for something that is on its way. Rows of
-- today fit the narrower list of states: nobody has to read them all for this.
alter table attempts
  add column if not exists order_key text,
  add column if not exists step jsonb,
  add column if not exists submits integer not null default 0,
  add column if not exists submitted_at timestamptz,
  add column if not exists provider_text text,
  add column if not exists provider_time timestamptz,
  add column if not exists fee bigint,
  add column if not exists net bigint,
  drop constraint if exists attempts_state_check,
  add constraint attempts_state_check
    check (state in ('started', 'not_sent', 'pending', 'needs_input', 'unknown', 'disputed', 'paid', 'failed')) not valid;
