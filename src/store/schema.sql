-- The schema as it is today, to be read. A database is made by the files in migrations/; a test makes one from this page,
-- too, and finds no difference but the order of columns. A change of the schema changes both.
--
-- Three rules hold throughout. `merchant_id` leads every key, so that the tables can be spread over many servers by it.
-- Money is in minor units. There are no sequences, triggers or functions: ids, times and decisions come from the program.


-- Merchants

-- The shop, its settings as the operator typed them, and the key to all its secrets, itself sealed by a master key.
create table merchants (
  merchant_id text primary key,
  name text not null,
  active boolean not null default true,
  settings jsonb not null default '{}',
  master_key_id text not null, -- which master key opens the next one
  wrapped_key bytea not null,
  sealed_ipn_password bytea, -- of live notifications in style basic; without one it is the merchant's id
  sealed_test_ipn_password bytea, -- the same of test notifications
  created_at timestamptz not null
);

-- The key itself is public, its secret is sealed. A key that was rotated works until it expires.
create table merchant_keys (
  merchant_id text not null references merchants,
  merchant_key text not null,
  mode text not null check (mode in ('test', 'live')),
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (merchant_id, merchant_key)
);
-- A request names a key and no merchant.
create index merchant_keys_by_key on merchant_keys (merchant_key);

-- What signs the notifications of a mode. During a rotation there are two.
create table ipn_secrets (
  merchant_id text not null references merchants,
  mode text not null check (mode in ('test', 'live')),
  secret_id text not null,
  sealed_secret bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (merchant_id, mode, secret_id)
);

-- Where a merchant sells: a payment may name one, and reports are made by it.
create table outlets (
  merchant_id text not null references merchants,
  code text not null,
  name text not null,
  created_at timestamptz not null,
  primary key (merchant_id, code)
);

-- The picture that a merchant shows on its pages, in the bytes that we wrote ourselves from what was given. Its address
-- has the digest, so that it may be kept for as long as anybody likes.
create table merchant_logos (
  merchant_id text primary key references merchants,
  digest text not null,
  type text not null check (type in ('png', 'jpeg')),
  bytes bytea not null,
  width integer not null,
  height integer not null,
  created_at timestamptz not null
);


-- Accounts at providers

-- One set of credentials at a provider, the operator's or a merchant's. Rows are never deleted: attempts name their
-- account, and are asked about long after it was disabled. There are few, every node reads all of them, and whoever
-- looks for one has no merchant: the table stays on one server. Hence no foreign key to merchants, which may be spread.
create table channel_accounts (
  account text primary key, -- its channel and six letters: mtn-4f7k2q
  channel text not null, -- the name of the file that speaks to the provider
  mode text not null check (mode in ('test', 'live')), -- as declared; the settings have to agree
  merchant_id text, -- whose money it collects; null: the operator's
  label text, -- what people call it
  settings jsonb not null default '{}', -- what is no secret
  sealed_settings bytea not null, -- the rest; what stands beside it is bound in, so that nobody changes it by hand
  wrapped_key bytea not null, -- the account's own key to them, sealed by the master key
  master_key_id text not null,
  disabled_at timestamptz, -- no new attempts since; those that it has are asked about
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version bigint not null -- one above that of the change before, whichever account that was
);
-- Nodes ask for the highest each second.
create index channel_accounts_by_version on channel_accounts (version);

-- Which business at the provider an account's credentials belong to. The first credentials of an account name make a
-- business; other credentials make another one, unless an operator confirms that it is the same. Going back to known
-- credentials restores their business. As small as the table above, and beside it on one server.
create table provider_businesses (
  account text not null, -- its name: one from environment variables is called as its provider is
  credentials_digest text not null, -- tells credentials apart; they cannot be read from it
  first_business text not null, -- the id when they were first seen; attempts may carry it
  business text not null, -- another one than the first since it was confirmed to be the same business
  seen_at timestamptz not null,
  confirmed_at timestamptz,
  version bigint not null, -- one above that of the change before: nodes ask for the highest each second
  primary key (account, credentials_digest)
);


-- Payments

-- What a merchant asked for, and how it went: a status check reads this row alone. No foreign key to merchants: none is
-- ever deleted, and to check one would lock the same row for every payment of a busy merchant.
create table payments (
  merchant_id text not null,
  tx_reference text not null, -- sorts by time, so the key is the list by time, too
  mode text not null check (mode in ('test', 'live')),
  invoice_id text not null, -- the merchant's own name for it
  tx_token text not null, -- in the address of the checkout page
  status text not null check (status in ('awaiting_payment', 'paid', 'cancelled', 'failed')),
  status_reason text not null default '',
  total bigint not null check (total > 0),
  currency text not null,
  -- as in the request
  success_url text,
  cancelled_url text,
  deferred_url text,
  ipn_url text,
  number text,
  email text,
  name text,
  description text,
  line_items jsonb, -- what it is for, line by line: name, quantity, and the line's total in minor units as text
  outlet text,
  pymt_instrument text,
  wallet_issuer_hint text,
  extra jsonb not null default '{}',
  request_digest bytea not null, -- tells the same request from another with the same invoice id
  -- empty until somebody pays
  payment_method text,
  payment_instrument text,
  payment_reference text,
  payment_time timestamptz,
  charged bigint,
  card_type text,
  psp_response_code text,
  psp_response_msg text,
  late boolean not null default false, -- paid after it had ended otherwise
  cancel_wished_at timestamptz, -- the customer cancelled while an attempt was unresolved
  left_by text[] not null default '{}', -- visits that were sent on to the shop by themselves: each is, once
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_attempt_id text, -- the attempt that paid it; a second success is an overpayment
  reversed_at timestamptz, -- when that attempt's money was first reversed, wholly or in part
  reversed_amount bigint, -- how much of it so far
  redacted_at timestamptz, -- what is known of the payer was removed; what changes later is removed again
  primary key (merchant_id, tx_reference),
  unique (merchant_id, mode, invoice_id), -- so that a merchant may safely ask again
  unique (merchant_id, tx_token)
);
-- Expiry. Only what still waits is in it, and new payments go to its end.
create index payments_due on payments (expires_at) where status = 'awaiting_payment';
-- Redaction, oldest first. By a time that never changes: a payment whose status stays can keep its place in the page.
create index payments_to_redact on payments (expires_at)
  where status <> 'awaiting_payment' and redacted_at is null;

-- One go at paying a payment through one channel. Half of each page stays free: whoever asks the provider holds a lease,
-- which no index knows, so the row stays in its page and no index has to change.
create table attempts (
  merchant_id text not null,
  attempt_id text not null,
  tx_reference text not null,
  number integer not null, -- of its payment; a form carries the next one, so that a double click is one attempt
  channel text not null, -- the account that it goes through
  mode text, -- of the payment and of the account
  account_identity text, -- the provider's environment and business: the account must still be the same one when it is asked
  order_key text, -- what the provider knows it by; null: the attempt_id
  payment_method text not null,
  state text not null
    check (state in ('started', 'not_sent', 'pending', 'needs_input', 'unknown', 'disputed', 'paid', 'failed')),
  reason text,
  instrument text,
  payer text, -- a digest of the address: to count, not to know
  lang text, -- of the page; messages speak it
  given jsonb not null default '{}', -- what the customer typed, until it ends
  -- what the provider told
  provider_ref text,
  redirect_url text,
  qr text,
  step jsonb, -- what the customer has to type next
  provider_text text, -- for the customer
  provider_time timestamptz,
  charged bigint,
  fee bigint,
  net bigint,
  card_type text,
  psp_response_code text,
  psp_response_msg text,
  provider_code text, -- the provider's raw code, for operators
  declined_at timestamptz, -- a card was declined on the provider's page, which is still open
  check_reversals boolean not null default false, -- a webhook named a refund or a dispute: the next question reads them
  -- the order on its way
  sends integer not null default 1,
  resent_at timestamptz, -- although it may have arrived before
  submits integer not null default 0, -- how often the customer has typed what a step asked for
  submitted_at timestamptz,
  acknowledged_at timestamptz, -- the provider has shown that it has it
  returned_at timestamptz, -- the customer came back from the provider's page and made us ask
  gave_up_at timestamptz, -- the customer wished to go on without it; only the provider ends it
  gave_up_for text, -- another number or another way
  -- asking about it
  asks integer not null default 0,
  next_ask_at timestamptz, -- stays until there is an answer; null: nothing left to learn
  knocked boolean not null default false, -- asked about before those whose time has only come
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz,
  primary key (merchant_id, attempt_id),
  unique (merchant_id, tx_reference, number),
  foreign key (merchant_id, tx_reference) references payments (merchant_id, tx_reference)
) with (fillfactor = 50);
-- One unresolved attempt of a payment at a time, whatever the program believes and whatever states there are.
create unique index attempts_open on attempts (merchant_id, tx_reference) where state not in ('paid', 'failed');
-- What is to be asked about. A channel that is down holds up no other.
create index attempts_due_by_channel on attempts (channel, knocked, next_ask_at) where next_ask_at is not null;
-- How often a wallet or card was tried in vain: before each attempt, against those who try stolen ones.
create index attempts_by_instrument on attempts (merchant_id, instrument, created_at) where state <> 'paid';
-- The same by the address of the payer.
create index attempts_by_payer on attempts (merchant_id, payer, created_at) where state <> 'paid';
-- A webhook names an order by the provider's key for it.
create index attempts_by_key on attempts (channel, order_key) where order_key is not null;

-- A provider's reference pays one attempt. Whoever looks for one has an account at a provider and no merchant, so a
-- sharded database spreads this table by `reference`, the only one that does not lead with `merchant_id`.
create table paid_references (
  account text not null,
  reference text not null,
  merchant_id text not null,
  attempt_id text not null,
  primary key (account, reference)
);

-- Money of a charge that the provider paid back. One row for each of the provider's refunds; several may be partial.
create table reversals (
  merchant_id text not null,
  attempt_id text not null,
  reversal_id text not null, -- the provider's id of the refund
  tx_reference text not null,
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  reversed_at timestamptz not null, -- by the provider's clock where it tells
  created_at timestamptz not null,
  primary key (merchant_id, attempt_id, reversal_id)
);

-- A charge that the customer's bank disputes. Opening one moves no money; losing it does.
create table disputes (
  merchant_id text not null,
  attempt_id text not null,
  dispute_id text not null, -- the provider's
  tx_reference text not null,
  state text not null check (state in ('open', 'won', 'lost')),
  amount bigint not null,
  currency text not null,
  reason text not null default '',
  due_at timestamptz, -- the provider wants evidence before then
  opened_at timestamptz not null,
  resolved_at timestamptz,
  primary key (merchant_id, attempt_id, dispute_id)
);

-- What happened to a payment. Rows are added, never changed.
create table events (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  kind text not null,
  cause text not null,
  attempt_id text,
  from_status text,
  to_status text,
  reason text not null default '',
  at timestamptz not null,
  primary key (merchant_id, tx_reference, sequence)
);

-- What needs a person. Raised once, however often its cause is seen.
create table tasks (
  merchant_id text not null,
  attempt_id text not null,
  kind text not null,
  tx_reference text not null,
  amount bigint not null,
  currency text not null,
  note text not null default '',
  created_at timestamptz not null,
  closed_at timestamptz,
  closed_note text,
  primary key (merchant_id, attempt_id, kind)
);


-- Notifications

-- What a merchant is told of one change of a payment's status: the very bytes that every try sends. There is one for
-- every change, with or without an address to send it to. What happens to money after that is of another type: it stands
-- in the feed alone.
create table notifications (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  status text not null,
  type text not null default 'status', -- or reversed, dispute_opened, dispute_won, dispute_lost
  body text not null,
  created_at timestamptz not null,
  position bigint, -- in the merchant's feed, given when the feed is read
  primary key (merchant_id, tx_reference, sequence)
);
-- Lists and redeliveries by time; where a reader of the feed who was away goes on.
create index notifications_by_time on notifications (merchant_id, created_at);
-- To number the feed: only what has no number yet.
create index notifications_unread on notifications (merchant_id, mode, created_at) where position is null;
-- To read the feed on from a number, each of which is given once.
create unique index notifications_numbered on notifications (merchant_id, mode, position)
  where position is not null;

-- How far the feed of a merchant is numbered. Whoever numbers holds the row.
create table feeds (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  position bigint not null default 0,
  primary key (merchant_id, mode)
);

-- The journey of a notification to an address. A try under way holds a lease, which no index knows; with half of each
-- page free the row stays where it is, so taking one is cheap.
create table deliveries (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  mode text not null check (mode in ('test', 'live')),
  url text not null,
  lane text not null, -- see src/core/notification/laneName.ts; deliveries of one lane share a circuit breaker
  style text not null check (style in ('post', 'get', 'basic')),
  created_at timestamptz not null,
  begun_at timestamptz not null, -- the schedule counts from here; a delivery by hand begins anew
  tries integer not null default 0,
  retry boolean not null default false, -- has failed before
  held boolean not null default false, -- waits in its lane, out of the way of the others
  alone boolean not null default false, -- no other of its payment has not ended; false: nobody has counted
  next_try_at timestamptz, -- null: it has ended
  lease_token text,
  lease_until timestamptz,
  acknowledged_at timestamptz,
  exhausted_at timestamptz,
  -- The last try stands here and not in `tries`, so that the usual delivery, acknowledged at once, is one row, not two.
  last_try integer,
  last_try_at timestamptz,
  last_ms integer,
  last_address text,
  last_status integer,
  last_result text,
  last_words text,
  last_answer bytea,
  primary key (merchant_id, tx_reference, sequence)
) with (fillfactor = 50);
-- What is to be sent. First tries are looked for apart from those that failed before.
create index deliveries_due on deliveries (retry, next_try_at) where next_try_at is not null;
-- What waits in its lane, oldest first.
create index deliveries_held on deliveries (merchant_id, lane, begun_at) where held;
-- What was given up: for lists, and the mail to the merchant's contact.
create index deliveries_exhausted on deliveries (merchant_id, exhausted_at) where exhausted_at is not null;
-- Whose last try is still written down, oldest first: whoever forgets them reads no others.
create index deliveries_remembered on deliveries (last_try_at) where last_try is not null;

-- How often the paths that requests name were acknowledged, by the hour: the path acknowledged most has a lane of its own.
-- Nodes add to it every few seconds at most; counts that are lost do no harm.
create table acknowledged_paths (
  merchant_id text not null,
  mode text not null check (mode in ('test', 'live')),
  origin text not null, -- scheme, host and port
  path text not null, -- a digest of it, without the query
  hour timestamptz not null, -- its beginning
  paid integer not null, -- notifications of paid payments
  acknowledged integer not null, -- all notifications
  primary key (merchant_id, mode, origin, path, hour)
);

-- One HTTP request of a delivery before its last one, and what came of it. Kept for 30 days.
create table tries (
  merchant_id text not null,
  tx_reference text not null,
  sequence integer not null,
  try integer not null,
  started_at timestamptz not null,
  ms integer not null,
  address text,
  status integer,
  result text not null,
  words text not null default '',
  answer bytea,
  primary key (merchant_id, tx_reference, sequence, try)
);
-- Forgetting the old ones. New ones take their room all over the table, so its blocks tell nothing about their age.
create index tries_by_start on tries (started_at);


-- Messages

-- What somebody is told by SMS or email: a customer of the end of a payment, once per status, and again when a person
-- sends the receipt again; or a merchant's contact of something that needs a look.
create table messages (
  merchant_id text not null,
  message_id text not null,
  mode text not null check (mode in ('test', 'live')),
  medium text not null check (medium in ('sms', 'email')),
  topic text not null,
  recipient text not null,
  mailbox text, -- whom it reaches, in one spelling; not known of those of a former version
  lang text not null,
  tx_reference text,
  state text not null default 'queued' check (state in ('queued', 'sent', 'delivered', 'dropped')),
  words text not null default '',
  tries integer not null default 0,
  unanswered integer not null default 0, -- how often it left since something was last written down of it
  next_try_at timestamptz, -- null: it has ended
  lease_token text,
  messenger text,
  provider_ref text,
  created_at timestamptz not null,
  sent_at timestamptz, -- also while it is under way: what may arrive counts
  ended_at timestamptz,
  primary key (merchant_id, message_id)
);
-- What is to be sent.
create index messages_due on messages (medium, next_try_at) where next_try_at is not null;
-- Caps: how many left for one address, in whatever spelling.
create index messages_by_mailbox on messages ((coalesce(mailbox, recipient)), sent_at) where sent_at is not null;
-- Caps: how many left for one merchant.
create index messages_by_merchant on messages (merchant_id, sent_at) where sent_at is not null;
-- A receipt names the provider's reference and no merchant.
create index messages_by_reference on messages (provider_ref) where provider_ref is not null;
-- The newest at the inbox page, and forgetting the old ones.
create index messages_by_time on messages (created_at);


-- Channels

-- What each node sees of an account at a provider, by way to pay, in the last minutes: the other nodes judge by it, too, and
-- `tollgate channel status` shows it. A node that has nothing new writes nothing. Neither this nor the next belongs to a
-- merchant; both stay on one server.
create table channel_health (
  node text not null, -- a process; whoever starts again has another name
  channel text not null, -- the account's name, as in attempts
  payment_method text not null,
  answered integer not null,
  late integer not null, -- of those that were answered
  unanswered integer not null,
  paid integer not null,
  declined integer not null, -- for a reason of the customer's
  troubled integer not null, -- for a reason of the account or its provider
  delays integer[] not null, -- how many answers came within each of the bounds of core/channel/standing.ts
  breaker text not null check (breaker in ('closed', 'open', 'probing')),
  rest_until timestamptz, -- the provider wants to be left alone
  answered_at timestamptz, -- the last time, ever
  paid_at timestamptz,
  odd_words jsonb not null, -- what we do not know, masked, with how often it was said
  last_error text, -- why the last call was not answered; null again after an answer
  last_error_at timestamptz,
  is_refused boolean not null default false, -- that call: the provider refuses our credentials
  written_at timestamptz not null,
  primary key (node, channel, payment_method)
);

-- The token of an account that all nodes use, where a new one ends the one before. It is sealed by a key of its own, which a
-- master key has wrapped. Whoever makes it anew says so first, for a while: who dies there is followed by the next.
create table channel_tokens (
  channel text primary key, -- the account's name
  master_key_id text,
  wrapped_key bytea,
  sealed_token bytea, -- null until the first was made
  made_at timestamptz,
  expires_at timestamptz,
  maker text, -- who makes the next one
  maker_until timestamptz
);


-- The installation

-- The secrets of the installation itself, in one row that all nodes share. They are sealed by a data key, which a master key
-- has wrapped. They belong to no merchant and stay on one server.
create table installation_secrets (
  only_row boolean primary key default true check (only_row),
  master_key_id text not null,
  wrapped_key bytea not null,
  sealed_support_token bytea not null, -- opens /support, /inbox and /metrics, unless TOLLGATE_SUPPORT_TOKEN is set
  sealed_form_key bytea not null, -- signs the forms of our own pages
  created_at timestamptz not null
);

-- Single-use links that sign an operator in to the support pages. A used link is deleted, an expired one with the next that
-- is made. The digest is keyed with a sealed secret, so no link can be made by writing a row here.
create table support_links (
  link_digest text primary key,
  expires_at timestamptz not null
);


-- The sandbox

-- The simulated provider's own books. Nothing of ours refers to them: we know the provider by its wire alone. There is no
-- column for a status, which follows from the ending, the decision and the time; and none could hold a card number.
create table sandbox_charges (
  merchant_id text not null,
  reference text not null,
  method text not null,
  payer text,
  amount bigint not null,
  currency text not null,
  payee text not null,
  note text,
  ending text not null, -- what becomes of it when nobody decides
  decided text, -- the ending that somebody chose
  decided_at timestamptz,
  callback_url text not null,
  return_url text not null,
  card_type text,
  card_last4 text check (length(card_last4) = 4),
  created_at timestamptz not null,
  primary key (merchant_id, reference)
);
-- The test phone looks for what waits for a number, whoever asked.
create index sandbox_charges_by_payer on sandbox_charges (payer, created_at);


-- The ledger of migrations

-- Which were applied. It belongs to no merchant and stays on one server.
create table migrations (
  name text primary key,
  applied_at timestamptz not null default now()
);
