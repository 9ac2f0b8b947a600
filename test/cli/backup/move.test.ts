import { afterEach, beforeEach, expect, test } from 'vitest'
import { copiedMark } from '../../../src/actions/backups/moveDatabase.ts'
import { addressOfUrl } from '../../../src/start/machine.ts'
import { backupTables } from '../../../src/store/backups/backupTables.ts'
import { saveHeartbeat } from '../../../src/store/installation/nodes.ts'
import { migrationNames } from '../../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../../support/database/database.ts'
import { yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgateJson } from '../tollgate.ts'

let shop: TestShop
let target: FreshDatabase
beforeEach(async () => {
  shop = await openShop()
  target = await freshDatabase()
  const ama = await shop.addMerchant()
  await shop.try(await shop.ask(ama), yes)
})
afterEach(async () => {
  await shop.stop()
  await target.drop()
})

const move = (to = target.url) => tollgateJson(shop.env, 'move', '--to', to)
const stateOf = async (url: string) =>
  (await query(url, 'select state, reason, moved_to from installation'))[0]
const moved = () => ({ state: 'moved', reason: '', moved_to: addressOfUrl(target.url) })
const original = { state: 'original', reason: '', moved_to: '' }

const contentOf = async (url: string) => {
  const digests = []
  for (const name of backupTables(migrationNames()).filter(
    table => !table.startsWith('installation') && table !== 'audit_entries',
  ))
    digests.push([
      name,
      await query(url, `select count(*), md5(string_agg(t::text, '|' order by t::text)) from ${name} t`),
    ])
  return digests
}

test('every row is in the new database, which is the real one; the old one has its rows and is marked as moved', async () => {
  const before = await contentOf(shop.url)
  const { code, error, data } = await move()
  expect([code, error]).toEqual([0, undefined])
  expect(data.tables).toContainEqual({ name: 'payments', rows: 1 })
  expect(await contentOf(target.url)).toEqual(before)
  expect(await contentOf(shop.url)).toEqual(before)
  expect([await stateOf(shop.url), await stateOf(target.url)]).toEqual([moved(), original])
  expect(await query(target.url, 'select address from installation_addresses')).toEqual([
    { address: addressOfUrl(target.url) },
  ])
})

const audit = (url: string) =>
  query(url, 'select action, subject, before from audit_entries order by at, entry_id')

test('the audit log goes on in the new database, and begins there with the move', async () => {
  const before = await audit(shop.url)
  await move()
  expect(await audit(shop.url)).toEqual(before)
  expect(await audit(target.url)).toEqual([
    ...before,
    {
      action: 'database.move',
      subject: addressOfUrl(target.url),
      before: { address: addressOfUrl(shop.url) },
    },
  ])
})

// As if the new database had not been adopted yet: the entry of the move is in the commit that adopts it.
const undoAdoption = () =>
  query(
    target.url,
    `begin;
     alter table audit_entries disable trigger audit_entries_append_only;
     delete from audit_entries where action = 'database.move';
     alter table audit_entries enable trigger audit_entries_append_only;
     update installation set state = 'copy', reason = '${copiedMark}';
     commit`,
  )

test('a move that was interrupted before the old database was marked compares and finishes', async () => {
  await move()
  await query(shop.url, 'delete from installation')
  await undoAdoption()
  expect(await move()).toMatchObject({ code: 0 })
  expect([await stateOf(shop.url), await stateOf(target.url)]).toEqual([moved(), original])
})

test('if the old database has changed since the copy, nothing is marked', async () => {
  await move()
  await query(shop.url, 'delete from installation')
  await undoAdoption()
  await shop.ask(await shop.addMerchant('Kofi Shop'))
  const { code, error } = await move()
  expect([code, error.message]).toEqual([
    1,
    expect.stringMatching(/differ after the copy .* Nothing was marked as moved/),
  ])
  expect(await stateOf(shop.url)).toBeUndefined()
  // The cure is in the message.
  expect(error.message).toContain(
    'Make a new empty database (createdb) and run tollgate move with --to that one',
  )
  const other = await freshDatabase()
  try {
    expect(await move(other.url)).toMatchObject({ code: 0 })
    expect((await stateOf(shop.url)).state).toBe('moved')
    expect(await stateOf(other.url)).toEqual(original)
  } finally {
    await other.drop()
  }
})

test('a database on which a node runs is not moved', async () => {
  await saveHeartbeat(shop.db, {
    node: 'a',
    number: 1,
    is_listening: false,
    name: 'ama',
    listens_at: 'http://localhost:3000',
    version: '0.3.0',
    schema: 47,
    key_ids: [],
    database_address: 'db:5432',
    clock_offset_ms: 0,
    is_paused: false,
    role: 'all',
  })
  const { code, error } = await move()
  expect([code, error.message]).toEqual([1, expect.stringContaining('stop every node first')])
})

test('a database with rows, and the same database, are not filled', async () => {
  const { code, error } = await move(shop.url)
  expect([code, error.message]).toEqual([1, expect.stringContaining('Only an empty database is filled')])
})
