import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'

let ours: FreshDatabase
let bad: FreshDatabase // has one of everything that we must not have

beforeAll(async () => {
  ;[ours, bad] = await Promise.all([freshDatabase(), freshDatabase()])
  await query(bad.url, badSchema)
  const db = openDb(ours.url, 2)
  assert.deepEqual(await migrate(db), migrationNames())
  assert.deepEqual(await migrate(db), []) // what was applied is not applied again
  await db.end()
})
afterAll(() => Promise.all([ours.drop(), bad.drop()]))

const badSchema = `
  create table merchants (merchant_id text primary key);
  create table payments (
    id serial primary key,
    other int generated always as identity,
    merchant_id text references merchants,
    invoice_id text references payments (invoice_id),
    unique (invoice_id, merchant_id),
    unique (invoice_id)
  );
  create table notes (text text);
  create function touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before update on payments for each row execute function touch();`

const inPublic = (column: string) => `${column} = 'public'::regnamespace`

// The ledger of migrations belongs to no merchant, and stays on one node; so do accounts at providers, their health and
// their tokens, which are few and read whole by every node; and so do the people who sign in, and the audit log. A provider's reference is one across merchants: a sharded
// database spreads these by the reference, and whoever asks has one.
const alone = `'migrations', 'installation', 'installation_addresses', 'provider_accounts', 'provider_businesses', 'provider_health', 'provider_tokens',
  'installation_secrets', 'node_minutes', 'nodes', 'support_links', 'ledger_mails', 'backups', 'users', 'memberships', 'user_sessions', 'passkeys',
  'user_links', 'user_mails', 'used_challenges', 'audit_entries'`
const ofNoMerchant = `relname not in (${alone}, 'paid_references')`

// A trigger decides nothing. These only refuse to change what is booked and recorded; a sharded database goes without them.
const appendOnly = `'transfers_append_only', 'ledger_seals_append_only', 'audit_entries_append_only'`
const refusals = `'refuse_ledger_change', 'refuse_audit_change'`

for (const [what, text] of [
  [
    'unique key that does not lead with merchant_id',
    `select indexrelid::regclass as name from pg_index i
     join pg_class c on c.oid = indrelid
     join pg_attribute a on a.attrelid = indrelid and a.attnum = indkey[0]
     where indisunique and attname <> 'merchant_id' and ${ofNoMerchant} and ${inPublic('relnamespace')}`,
  ],
  [
    'foreign key that does not lead with merchant_id',
    `select conname as name from pg_constraint k
     join pg_attribute here on here.attrelid = conrelid and here.attnum = conkey[1]
     join pg_attribute there on there.attrelid = confrelid and there.attnum = confkey[1]
     where contype = 'f' and ${inPublic('connamespace')}
       and (here.attname <> 'merchant_id' or there.attname <> 'merchant_id')`,
  ],
  [
    'table without a primary key',
    `select relname as name from pg_class c where relkind in ('r', 'p') and ${inPublic('relnamespace')}
       and not exists (select from pg_index where indrelid = c.oid and indisprimary)`,
  ],
  // Serial and identity columns have one too.
  ['sequence', `select relname as name from pg_class where relkind = 'S' and ${inPublic('relnamespace')}`],
  [
    'trigger',
    `select tgname as name from pg_trigger join pg_class c on c.oid = tgrelid
     where not tgisinternal and ${inPublic('relnamespace')} and tgname not in (${appendOnly})`,
  ],
  [
    'function',
    `select proname as name from pg_proc where ${inPublic('pronamespace')} and proname not in (${refusals})`,
  ],
] as const) {
  test(`there is no ${what}`, async () => {
    assert.deepEqual(await query(ours.url, text), [])
    assert.notDeepEqual(await query(bad.url, text), [])
  })
}

// Without what starts the private PostgreSQL, which is always a single one.
const sources = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter(file => file.isFile() && /\.(tsx?|sql)$/.test(file.name))
  .map(file => join(file.parentPath, file.name))
  .filter(file => !file.startsWith('src/postgres/'))

const codeOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/(?:\/\/|--) .*$/gm, '') // without comments

// A sharded database refuses SKIP LOCKED on rows of many merchants. Each of these has an alternative, which is tested on a
// database that refuses (test/support/database/withoutSkipLocked.ts), or skips rows of one merchant only, as parked
// deliveries and locks do.
const skipping = [
  'payments/dueAttempts',
  'refunds/dueRefunds',
  'notifications/deliveries',
  'notifications/parkedDeliveries',
  'messages/sending',
  'payments/callbacks',
  'payments/locks',
]

test('only statements with an alternative use SKIP LOCKED', () => {
  assert.deepEqual(
    sources.filter(file => /skip\s+locked/i.test(codeOf(file))).toSorted(),
    skipping.toSorted().map(name => `src/store/${name}.ts`),
  )
})

// These reach no further than one server, and end with a connection or a transaction: nothing is built on them but what may
// be lost. `installation/copies` lets nodes that start at once look at the identity of the database one after the other, and
// `sessionUrl` asks whether two addresses lead to the same database.
for (const [what, pattern, mayBeLost] of [
  ['advisory locks', /advisory_/i, ['installation/copies', 'nodeSession', 'sessionUrl']],
  ['listen and notify', /pg_notify|[`'"]\s*((un)?listen|notify)\s/i, ['nodeSession']],
] as const) {
  test(`${what} are used where they may be lost`, () => {
    assert.deepEqual(
      sources.filter(file => pattern.test(codeOf(file))).toSorted(),
      mayBeLost.map(name => `src/store/${name}.ts`),
    )
  })
}
