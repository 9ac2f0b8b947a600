// Where the rows of each table are on a sharded PostgreSQL (Citus). Every table of the migrations is named here; a test
// compares. On any other PostgreSQL all of them are in the one database.
//
//   by merchant_id: the rows of a merchant are on the same worker in all of these tables, so that one transaction changes
//     them there.
//   reference: every worker has a copy. Requests and notifications need them of every merchant, so that the loss of one worker
//     stops only its own merchants. A change needs all workers.
//   coordinator: not distributed. Few rows, which belong to no merchant or are read across merchants.
//   coordinator_for_all: on the coordinator, and registered with Citus, so that a transaction that changes it together with
//     tables of a merchant commits on both servers or on none.
export type TablePlace = 'reference' | 'coordinator' | 'coordinator_for_all' | 'merchant_id'

const byMerchant: TablePlace = 'merchant_id'

// In the order in which they are distributed: a table comes after those that its foreign keys name.
export const tablePlaces: Readonly<Record<string, TablePlace>> = {
  merchants: 'reference',
  merchant_keys: 'reference',
  ipn_secrets: 'reference',
  outlets: 'reference',
  merchant_logos: byMerchant,
  key_handovers: byMerchant,
  payments: byMerchant,
  attempts: byMerchant,
  events: byMerchant,
  tasks: byMerchant,
  reversals: byMerchant,
  disputes: byMerchant,
  refunds: byMerchant,
  refund_approvals: byMerchant,
  transfers: byMerchant,
  ledger_snapshots: byMerchant,
  ledger_searches: byMerchant,
  ledger_seals: byMerchant,
  closing_totals: byMerchant,
  closing_progress: byMerchant,
  report_periods: byMerchant,
  report_totals: byMerchant,
  late_changes: byMerchant,
  report_progress: byMerchant,
  notifications: byMerchant,
  feeds: byMerchant,
  deliveries: byMerchant,
  tries: byMerchant,
  acknowledged_paths: byMerchant,
  messages: byMerchant,
  sandbox_charges: byMerchant,
  sandbox_refunds: byMerchant,
  refused_requests: byMerchant,
  refused_counts: byMerchant,
  taken_payments: byMerchant,
  paid_references: 'coordinator_for_all', // a provider's reference pays one attempt, of whichever merchant
  migrations: 'coordinator',
  provider_accounts: 'coordinator', // a change locks the table, and takes the next version of all rows
  provider_businesses: 'coordinator',
  provider_health: 'coordinator',
  provider_tokens: 'coordinator',
  installation: 'coordinator',
  installation_addresses: 'coordinator',
  installation_secrets: 'coordinator',
  support_links: 'coordinator',
  users: 'coordinator',
  memberships: 'coordinator',
  user_sessions: 'coordinator',
  passkeys: 'coordinator',
  user_links: 'coordinator',
  user_mails: 'coordinator',
  used_challenges: 'coordinator',
  audit_entries: 'coordinator',
  ledger_mails: 'coordinator',
  node_minutes: 'coordinator',
  nodes: 'coordinator',
  backups: 'coordinator',
}

// Their rows are added and never changed: docs/ledger.md. A trigger named after the table refuses changes, and where the
// table is distributed, which Citus allows for no table with triggers, a missing privilege.
export const appendOnlyTables = ['transfers', 'ledger_seals', 'audit_entries']
