-- What each node sees of the accounts at providers, for the other nodes and for whoever asks.
create table if not exists channel_health (
  node text not null,
  channel text not null,
  payment_method text not null,
  answered integer not null,
  late integer not null,
  unanswered integer not null,
  paid integer not null,
  declined integer not null,
  troubled integer not null,
  delays integer[] not null,
  breaker text not null check (breaker in ('closed', 'open', 'probing')),
  rest_until timestamptz,
  answered_at timestamptz,
  paid_at timestamptz,
  odd_words jsonb not null,
  written_at timestamptz not null,
  primary key (node, channel, payment_method)
);
