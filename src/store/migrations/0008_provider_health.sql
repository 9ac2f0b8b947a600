-- Each node's view of an account at a provider, by payment method, over the last minutes. Other nodes use it for their own
-- decisions, and the status command shows it. A node without news writes nothing. Not sharded: it belongs to no merchant.
create table provider_health (
  node text not null, -- one process; a restarted node has another name
  provider_account text not null, -- the account's name, as in attempts
  payment_method text not null,
  answered integer not null,
  late integer not null, -- of those answered
  unanswered integer not null,
  paid integer not null,
  declined integer not null, -- for a reason of the customer's
  troubled integer not null, -- for a reason of the account or its provider
  delays integer[] not null, -- a histogram of response times; its bounds are in core/provider/health.ts
  breaker text not null check (breaker in ('closed', 'open', 'probing')),
  rest_until timestamptz, -- the provider asked for no requests until then
  answered_at timestamptz, -- the last time, ever
  paid_at timestamptz,
  unknown_codes jsonb not null, -- unknown codes of the provider, masked, with how often each occurred
  last_error text, -- why the last call got no answer; null after an answer
  last_error_at timestamptz,
  is_refused boolean not null default false, -- the provider rejected the credentials of that call
  written_at timestamptz not null,
  primary key (node, provider_account, payment_method)
);
