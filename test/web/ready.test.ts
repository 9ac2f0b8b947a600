import { afterAll, beforeAll, expect, test } from 'vitest'
import { whyNotStore } from '../../src/core/fitDatabase.ts'
import { query } from '../support/database.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { post, send, signedRequest } from '../support/merchant.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await testGateway()))
afterAll(() => gateway.stop())

const ready = () => send(`${gateway.url}/readyz`)
const run = (text: string) => query(gateway.db.url, text)
const name = () => /\/(test_\w+)\?/.exec(gateway.db.url)?.[1]
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
    await query(
      gateway.db.url.replace(`/${name()}?`, '/tollgate?'),
      `alter database ${name()} reset default_transaction_read_only`,
    )
    await cut()
    expect(await ready()).toMatchObject({ http: 200, text: 'ready' })
    const { test: keys } = await gateway.addMerchant()
    expect((await post(gateway.url, signedRequest(keys))).http).toBe(200)
  })

test('a role that may write is heard before a database that may not', async () => {
  await run(`alter database ${name()} set default_transaction_read_only = on`)
  await query(
    gateway.db.url.replace(`/${name()}?`, '/tollgate?'),
    `alter role current_user in database ${name()} set default_transaction_read_only = off`,
  )
  await cut()
  expect(await ready()).toMatchObject({ http: 200 })
  await run(`alter database ${name()} reset default_transaction_read_only`)
  await run(`alter role current_user in database ${name()} reset default_transaction_read_only`)
})

test('not ready when a newer Tollgate has changed the schema', async () => {
  await run(`insert into migrations (name) values ('9999_tomorrow.sql')`)
  expect(await ready()).toMatchObject({
    http: 503,
    text: 'not ready: the schema is newer than this Tollgate: 9999_tomorrow.sql',
  })
  await run(`delete from migrations where name = '9999_tomorrow.sql'`)
  expect(await ready()).toMatchObject({ http: 200 })
})

test('not ready while migrations are missing', async () => {
  const [row] = await run(
    `delete from migrations where name = 'tables/01_merchants.sql' returning name, applied_at`,
  )
  expect(await ready()).toMatchObject({
    http: 503,
    text: 'not ready: migrations are missing: tables/01_merchants.sql',
  })
  await query(gateway.db.url, 'insert into migrations values ($1, $2)', [row?.name, row?.applied_at])
  expect(await ready()).toMatchObject({ http: 200 })
})

const sound = {
  version: '16.2',
  version_num: 160_002,
  read_only: false,
  fsync: 'on',
  synchronous_commit: 'on',
  applied: ['0001'],
}

for (const [state, why] of [
  [{}, undefined],
  [{ version: '14.11', version_num: 140_011 }, 'the database is too old: PostgreSQL 14.11, and 15 is needed'],
  [{ version: '15.0', version_num: 150_000 }, undefined],
  [{ read_only: true }, 'the database is read-only'],
  [{ applied: [] }, 'migrations are missing: 0001'],
  [{ applied: ['0001', '0002'] }, 'the schema is newer than this Tollgate: 0002'],
] as const)
  test(`payments on ${JSON.stringify(state)}: ${why ?? 'can be stored'}`, () =>
    expect(whyNotStore({ ...sound, ...state }, { former: [], tables: ['0001'], changes: [] })).toBe(why))
