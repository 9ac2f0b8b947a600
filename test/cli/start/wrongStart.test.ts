import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { whyNotDurable, whyNotStartOn } from '../../../src/core/fitDatabase.ts'
import { startGateway } from '../../../src/main.ts'
import { catalogOf } from '../../support/database/catalog.ts'
import { type FreshDatabase, freshDatabase, query } from '../../support/database/database.ts'
import { type Env, newMasterKey, temporaryFolder, tollgate } from '../tollgate.ts'

vi.setConfig({ testTimeout: 120_000 }) // each starts a whole gateway

let database: FreshDatabase
let env: Env
beforeAll(async () => {
  database = await freshDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey(), PORT: '0', LOG_LEVEL: 'silent' }
  expect((await tollgate(env, 'migrate')).code).toBe(0)
})
afterAll(() => database.drop())

const name = () => /\/(test_\w+)/.exec(database.url)?.[1]

// A start that is not refused does not end.
const refusedIn = async (settings: Env, ...args: string[]) => {
  const { code, stdout, stderr } = await tollgate(settings, ...args)
  expect(stdout).toBe('')
  return [code, stderr]
}

test('a schema that is newer than the code: neither the gateway nor a command changes it', async () => {
  await query(database.url, `insert into migrations (name) values ('9998_soon.sql'), ('9999_later.sql')`)
  for (const args of [['start'], ['migrate'], ['merchant', 'add', '--name', 'Ama Shop']])
    expect(await refusedIn(env, ...args)).toEqual([
      69,
      'The database was changed by a newer Tollgate (9998_soon.sql and 1 more): start that version, or restore a ' +
        'backup from before.\n',
    ])
  await query(database.url, `delete from migrations where name like '9%'`)
})

test('a database of a later release whose migrations are compatible: commands and gateways run on it', async () => {
  await query(database.url, `insert into migrations (name, compatible) values ('9999_later.sql', true)`)
  expect((await tollgate(env, 'merchant', 'list')).code).toBe(0)
  const gateway = await startGateway(readConfig(env), { log: pino({ level: 'silent' }) })
  await gateway.stop()
  await query(database.url, `insert into migrations (name) values ('9999_last.sql')`)
  expect(await refusedIn(env, 'start')).toEqual([
    69,
    'The database was changed by a newer Tollgate (9999_last.sql): start that version, or restore a backup from before.\n',
  ])
  await query(database.url, `delete from migrations where name like '9%'`)
})

const beforeBaseline =
  'The database was made by an unreleased version of Tollgate, before 0.2.0: export what you need from it, and start ' +
  'with a new database.\n'

for (const [what, tables] of [
  [
    'with a migrations table of an unreleased version',
    `create table migrations (name text primary key, applied_at timestamptz not null default now());
     insert into migrations values ('0001_merchants.sql'), ('0059_attempts_given_up.sql'), ('tables/05_payments.sql');
     create table merchants (merchant_id text primary key)`,
  ],
  [
    'with an empty migrations table of an unreleased version',
    'create table migrations (name text primary key)',
  ],
  ['with tables and no migrations table', 'create table payments (merchant_id text, tx_reference text)'],
  [
    'with a migration among ours that is in no release',
    `create table migrations (name text primary key, applied_at timestamptz not null default now(),
       compatible boolean not null default false, served_at timestamptz);
     insert into migrations (name) values ('0001_merchants.sql'), ('0002_shops.sql')`,
  ],
] as const)
  test(`a database ${what} is refused by start, by commands and by doctor, and is not changed`, async () => {
    const old = await freshDatabase()
    await query(old.url, tables)
    const before = await catalogOf(old.url)
    const theirs = { ...env, DATABASE_URL: old.url }
    for (const args of [['start'], ['migrate'], ['merchant', 'list']])
      expect(await refusedIn(theirs, ...args)).toEqual([69, beforeBaseline])
    const { code, stdout } = await tollgate(theirs, 'doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^✗ failed {3}migrations +the database was made by an unreleased version of Tollgate, before 0\.2\.0$/m,
    )
    expect(stdout).toContain('Export what you need from it, and start with a new database.')
    expect(await catalogOf(old.url)).toEqual(before)
    await old.drop()
  })

test('a database that does not wait for its disk', async () => {
  await query(database.url, `alter database ${name()} set synchronous_commit = off`)
  expect(await refusedIn(env, 'start')).toEqual([
    69,
    'The database has synchronous_commit off, so a power cut could lose payments that merchants believe stored: ' +
      'set it to on in the database.\n',
  ])
  const log = pino({ level: 'silent' })
  const gateway = await startGateway(readConfig(env), { log, mayLosePayments: true }) // as a test may
  await gateway.stop()
  await query(database.url, `alter database ${name()} reset synchronous_commit`)
})

const state = {
  version: '16.2',
  version_num: 160_002,
  read_only: false,
  fsync: 'on',
  synchronous_commit: 'on',
  applied: [],
  unreleased: false,
}

test('an old PostgreSQL', () =>
  expect(whyNotStartOn({ ...state, version: '14.9', version_num: 140_009 }, [])).toBe(
    'The database is PostgreSQL 14.9 and Tollgate needs 15 or later: upgrade it, or name another in DATABASE_URL.',
  ))

for (const [facts, off] of [
  [{ fsync: 'off' }, 'fsync off, .* set it to on'],
  [{ fsync: 'off', synchronous_commit: 'off' }, 'fsync and synchronous_commit off, .* set both to on'],
] as const)
  test(`a server with ${JSON.stringify(facts)}`, () =>
    expect(whyNotDurable({ ...state, ...facts })).toMatch(new RegExp(`^The database has ${off}`)))

for (const setting of ['on', 'local', 'remote_write', 'remote_apply'])
  test(`a server with synchronous_commit ${setting} waits for its own disk`, () =>
    expect(whyNotDurable({ ...state, synchronous_commit: setting })).toBeUndefined())

let dataDir: string
beforeEach(() => void (dataDir = join(temporaryFolder(), 'data')))

test('DATABASE_URL without a master key: none is created, and the error explains how to create one', async () => {
  const unused = await freshDatabase() // no gateway has sealed anything in it
  const keyless = { DATABASE_URL: unused.url, TOLLGATE_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' }
  for (const args of [['start'], ['merchant', 'add', '--name', 'Ama Shop']])
    expect(await refusedIn(keyless, ...args)).toEqual([
      78,
      'There is no master key, and with DATABASE_URL none is created: make one (openssl rand -hex 32) and set ' +
        `TOLLGATE_MASTER_KEY to it on every node, or put it into ${join(dataDir, 'master.key')} (chmod 600).\n`,
    ])
  expect((await tollgate(keyless, 'merchant', 'list')).code).toBe(0) // what needs no secret goes on
  expect(existsSync(dataDir)).toBe(false)
  await unused.drop()
})

for (const folder of ['/proc/x', '/proc/x/y', '/proc'])
  test(`a data folder like ${folder} is refused by start and by doctor`, async () => {
    const expected = `No files can be stored in ${folder === '/proc/x/y' ? '/proc/x' : folder}: choose another TOLLGATE_DATA_DIR.`
    const lost = { TOLLGATE_DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' }
    expect(await refusedIn(lost, 'start')).toEqual([69, `${expected}\n`])
    const { code, stdout } = await tollgate(lost, 'doctor')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^✗ failed {3}data folder {2}No files can be stored in \/proc: /m)
  })
