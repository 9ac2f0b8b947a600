import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rewrapAccounts } from '../../../src/actions/providers/rewrapAccounts.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import {
  accountKeyIdsInUse,
  addStoredAccount,
  changingAccounts,
  findAccount,
  highestVersions,
  listAccounts,
  type StoredAccount,
  saveAccount,
} from '../../../src/store/providers/accounts.ts'
import { openSettings, sealSettings } from '../../../src/store/providers/sealedSettings.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { masterKeyId } from '../../../src/store/merchants/vault.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'

const now = new Date('2026-03-04T12:00:00Z')
const [first, second] = [randomBytes(32), randomBytes(32)]
const masterKeys = givenMasterKeys([first])
const secrets = { key: 'live_correct-horse-battery' }

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

async function add(account: string, changed: Partial<StoredAccount> = {}): Promise<StoredAccount> {
  const settings = { url: 'https://acme.example', shop: '1' }
  const bound = { account, provider: 'acme', mode: 'live' as const, merchant_id: null, settings, ...changed }
  const row = { ...bound, ...sealSettings(masterKeys, bound, secrets), label: null, created_at: now }
  await changingAccounts(db, tx => addStoredAccount(tx, row))
  return (await findAccount(db, account)) as StoredAccount
}

test('sealed settings can be opened, and are not readable in the table', async () => {
  const row = await add('acme-sealed')
  expect(openSettings(masterKeys, row)).toEqual(secrets)
  const [dump] = await query(
    database.url,
    `select t::text from provider_accounts t where account = 'acme-sealed'`,
  )
  expect(dump?.t).toContain('https://acme.example')
  for (const spelling of [secrets.key, Buffer.from(secrets.key).toString('hex')])
    expect(dump?.t).not.toContain(spelling)
})

// Changes by an attacker with write access to the database.
for (const [what, change] of [
  ['another name', { account: 'acme-others' }],
  ['another provider', { provider: 'sandbox' }],
  ['another mode', { mode: 'test' }],
  ['another owner', { merchant_id: '7c2k9m0x4f' }],
  ['another address for the secrets', { settings: { url: 'https://evil.example', shop: '1' } }],
  ['an additional setting', { settings: { url: 'https://acme.example', shop: '1', proxy: 'x' } }],
  ['a missing setting', { settings: { url: 'https://acme.example' } }],
] as [string, Partial<StoredAccount>][])
  test(`a row with ${what} does not open`, async () => {
    const row = await add(`acme-by${what.length}`)
    expect(() => openSettings(masterKeys, { ...row, ...change })).toThrow()
  })

test('swapped secrets and keys of two accounts do not open', async () => {
  const [one, other] = [await add('acme-swap11'), await add('acme-swap22')]
  const { sealed_settings, wrapped_key } = other
  for (const swapped of [{ sealed_settings }, { wrapped_key }, { sealed_settings, wrapped_key }])
    expect(() => openSettings(masterKeys, { ...one, ...swapped })).toThrow()
})

test('versions are committed in order under concurrent changes', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, at) => add(`acme-many${at}`)))
  const versions = (await listAccounts(db)).map(({ version }) => version).toSorted((a, b) => Number(a - b))
  expect(new Set(versions).size).toBe(versions.length)
  const row = await add('acme-last11')
  expect((await highestVersions(db)).accounts).toBe(row.version)
  await changingAccounts(db, tx => saveAccount(tx, 'acme-many3', { ...row, label: 'ours' }, now))
  expect((await highestVersions(db)).accounts).toBe(row.version + 1n)
})

test('a change of accounts does not block readers', async () => {
  await changingAccounts(db, async () => {
    const other = openDb(database.url, 1)
    expect((await listAccounts(other)).length).toBeGreaterThan(0)
    await other.end()
  })
})

test('an account that is added twice after a lost commit is stored once', async () => {
  const row = await add('acme-twice1')
  await changingAccounts(db, tx => addStoredAccount(tx, row))
  expect((await findAccount(db, 'acme-twice1'))?.version).toBe(row.version)
})

test('after a change of the master key only the new one opens accounts; accounts that fail are named', async () => {
  await db.rows(sql`delete from provider_accounts`)
  await add('acme-good11')
  const lost = await add('acme-lost11')
  await changingAccounts(db, tx =>
    saveAccount(tx, 'acme-lost11', { ...lost, wrapped_key: randomBytes(60) }, now),
  )
  const before = (await highestVersions(db)).accounts
  expect(await rewrapAccounts(db, givenMasterKeys([second, first]), now)).toEqual({
    changed: 1,
    failed: ['acme-lost11'],
  })
  const row = (await findAccount(db, 'acme-good11')) as StoredAccount
  expect(openSettings(givenMasterKeys([second]), row)).toEqual(secrets)
  expect(() => openSettings(masterKeys, row)).toThrow(/master key .* which this Tollgate does not have/)
  expect(row.version).toBe(before + 1n) // so that a node which could not open it tries again
  expect((await accountKeyIdsInUse(db)).toSorted()).toEqual(
    [masterKeyId(first), masterKeyId(second)].toSorted(),
  )
})
