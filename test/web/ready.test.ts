import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { whyNotStore } from '../../src/core/fitDatabase.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migratedDatabase, query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { laterRelease } from '../support/database/migrations.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await testGateway()))
afterAll(() => gateway.stop())

const ready = () => send(`${gateway.url}/readyz`)
const run = (text: string) => query(gateway.db.url, text)
const name = () => /\/(test_\w+)/.exec(gateway.db.url)?.[1]
const cut = () =>
  run(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
       and usename = current_user and pid <> pg_backend_pid()`,
  )

for (const [sessions, before] of [
  ['those that are open', async () => {}],
  ['new ones', cut],
] as const)
  test(`not ready on a database that was made read-only, asked by ${sessions}; and ready again`, async () => {
    expect(await ready()).toMatchObject({ http: 200, text: 'ready' })
    await run(`alter database ${name()} set default_transaction_read_only = on`)
    await before()
    expect(await ready()).toMatchObject({ http: 503, text: 'not ready: the database is read-only' })
    await query(inject('databaseUrl'), `alter database ${name()} reset default_transaction_read_only`)
    await cut()
    expect(await ready()).toMatchObject({ http: 200, text: 'ready' })
    const { test: keys } = await gateway.addMerchant()
    expect((await post(gateway.url, signedRequest(keys))).http).toBe(200)
  })

test('a role that may write is heard before a database that may not', async () => {
  await run(`alter database ${name()} set default_transaction_read_only = on`)
  await query(
    inject('databaseUrl'),
    `alter role current_user in database ${name()} set default_transaction_read_only = off`,
  )
  await cut()
  expect(await ready()).toMatchObject({ http: 200 })
  await run(`alter database ${name()} reset default_transaction_read_only`)
  await run(`alter role current_user in database ${name()} reset default_transaction_read_only`)
})

test('not ready when a newer Tollgate has changed the schema and serves', async () => {
  await run(`insert into migrations (name) values ('9999_tomorrow.sql')`)
  expect(await ready()).toMatchObject({ http: 200 }) // nothing else serves yet
  await run(`update migrations set served_at = now() where name = '9999_tomorrow.sql'`)
  expect(await ready()).toMatchObject({
    http: 503,
    text: 'not ready: the schema is newer than this Tollgate: 9999_tomorrow.sql',
  })
  await run(`delete from migrations where name = '9999_tomorrow.sql'`)
  expect(await ready()).toMatchObject({ http: 200 })
})

test('not ready while migrations are missing', async () => {
  const [row] = await run(
    `delete from migrations where name = '0001_merchants.sql' returning name, applied_at`,
  )
  expect(await ready()).toMatchObject({
    http: 503,
    text: 'not ready: migrations are missing: 0001_merchants.sql',
  })
  await query(gateway.db.url, 'insert into migrations values ($1, $2)', [row?.name, row?.applied_at])
  expect(await ready()).toMatchObject({ http: 200 })
})

// A later release beside this one: both serve the same database.
async function withLaterRelease(
  migration: string,
  work: (nodes: { older: TestGateway; startLater(): Promise<TestGateway>; folder: URL }) => Promise<void>,
) {
  const database = await migratedDatabase()
  const shared = { ...database, drop: async () => {} }
  const key = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('hex') }
  const folder = laterRelease({ '9001_later.sql': migration })
  const older = await testGateway(key, {}, shared)
  try {
    await work({
      older,
      folder,
      startLater: () => testGateway(key, { migrationFolder: folder }, shared),
    })
  } finally {
    await older.stop()
    await database.drop()
  }
}

const readiness = (...nodes: TestGateway[]) =>
  Promise.all(nodes.map(async ({ url }) => (await send(`${url}/readyz`)).text))
const takesPayments = async (node: TestGateway) => {
  const { test: keys } = await node.addMerchant()
  expect((await post(node.url, signedRequest(keys))).http).toBe(200)
}
const newer = 'not ready: the schema is newer than this Tollgate: 9001_later.sql'

test('an incompatible migration: the older node stays ready until a node of the later release is', () =>
  withLaterRelease('alter table payments add tip bigint;\n', async ({ older, startLater, folder }) => {
    expect(await migrate(older.db, { folder })).toEqual(['9001_later.sql'])
    expect(await readiness(older)).toEqual(['ready'])
    await takesPayments(older)
    const later = await startLater()
    expect(await readiness(older, later)).toEqual([newer, 'ready'])
    await takesPayments(later)
    await expect(testGateway({}, {}, { url: older.databaseUrl, drop: async () => {} })).rejects.toThrow(
      'The database was changed by a newer Tollgate (9001_later.sql)',
    )
    await later.stop()
    expect(await readiness(older)).toEqual([newer]) // two releases that may not run together do not alternate
  }))

test('a compatible migration: nodes of both releases are ready, and more of the older one may start', () =>
  withLaterRelease(
    '-- beside the previous release: yes\nalter table payments add tip bigint;\n',
    async ({ older, startLater }) => {
      const later = await startLater()
      expect(await readiness(older, later)).toEqual(['ready', 'ready'])
      await takesPayments(older)
      await takesPayments(later)
      const env = { TOLLGATE_MASTER_KEY: older.masterKeys.newest().toString('hex') }
      const another = await testGateway(env, {}, { url: older.databaseUrl, drop: async () => {} })
      expect(await readiness(another)).toEqual(['ready'])
      await takesPayments(another)
      await another.stop()
      await later.stop()
      expect(await readiness(older)).toEqual(['ready'])
    },
  ))

const applied = (migration: string) => ({ name: migration, compatible: false, served: true })
const sound = {
  version: '16.2',
  version_num: 160_002,
  read_only: false,
  fsync: 'on',
  synchronous_commit: 'on',
  applied: [applied('0001')],
  unreleased: false,
}

for (const [state, why] of [
  [{}, undefined],
  [{ version: '14.11', version_num: 140_011 }, 'the database is too old: PostgreSQL 14.11, and 15 is needed'],
  [{ version: '15.0', version_num: 150_000 }, undefined],
  [{ read_only: true }, 'the database is read-only'],
  [{ applied: [] }, 'migrations are missing: 0001'],
  [{ applied: [applied('0001'), applied('0002')] }, 'the schema is newer than this Tollgate: 0002'],
] as const)
  test(`payments on ${JSON.stringify(state)}: ${why ?? 'can be stored'}`, () =>
    expect(whyNotStore({ ...sound, ...state }, ['0001'])).toBe(why))
