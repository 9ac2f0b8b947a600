import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installationSecrets, rewrapInstallation } from '../../../src/actions/installation/secrets.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { installationKeyIdsInUse } from '../../../src/store/installation/installation.ts'
import { masterKeyId } from '../../../src/store/merchants/vault.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'

const now = new Date()
const [first, second] = [randomBytes(32), randomBytes(32)]
const masterKeys = givenMasterKeys([first])

let database: FreshDatabase
let nodes: Db[]
let db: Db
beforeEach(async () => {
  database = await migratedDatabase()
  nodes = Array.from({ length: 8 }, () => openDb(database.url, 1))
  db = nodes[0] as Db
})
afterEach(async () => {
  for (const node of nodes) await node.end()
  await database.drop()
})

test('nodes that start at once on a new database have the same secrets, and so has every later start', async () => {
  const all = await Promise.all(nodes.map(node => installationSecrets(node, masterKeys, now)))
  for (const one of all) expect(one).toEqual(all[0])
  expect(await installationSecrets(db, masterKeys, now)).toEqual(all[0])
  expect(all[0]?.supportToken).toMatch(/^[\w-]{32}$/)
  expect(all[0]?.formKey).toHaveLength(32)
  expect(await query(database.url, 'select 1 from installation_secrets')).toHaveLength(1)
})

test('two installations have different secrets', async () => {
  const ours = await installationSecrets(db, masterKeys, now)
  await query(database.url, 'delete from installation_secrets')
  const theirs = await installationSecrets(db, masterKeys, now)
  expect(theirs.supportToken).not.toBe(ours.supportToken)
  expect(theirs.formKey.equals(ours.formKey)).toBe(false)
})

test('a new master key wraps them, and the old one no longer opens them', async () => {
  const secrets = await installationSecrets(db, masterKeys, now)
  const newer = givenMasterKeys([second, first])
  expect(await rewrapInstallation(db, newer)).toEqual({ changed: 1, failed: [] })
  expect(await rewrapInstallation(db, newer)).toEqual({ changed: 0, failed: [] })
  expect(await installationKeyIdsInUse(db)).toEqual([masterKeyId(second)])
  expect(await installationSecrets(db, givenMasterKeys([second]), now)).toEqual(secrets)
  await expect(installationSecrets(db, masterKeys, now)).rejects.toThrow(masterKeyId(second))
})

test('without the old master key they are not changed, and are reported', async () => {
  await installationSecrets(db, masterKeys, now)
  expect(await rewrapInstallation(db, givenMasterKeys([second]))).toEqual({
    changed: 0,
    failed: ['the installation itself'],
  })
  expect(await installationKeyIdsInUse(db)).toEqual([masterKeyId(first)])
})

test('on a database without secrets there is nothing to wrap', async () => {
  expect(await rewrapInstallation(db, masterKeys)).toEqual({ changed: 0, failed: [] })
  expect(await installationKeyIdsInUse(db)).toEqual([])
})

test('one secret cannot be opened as the other', async () => {
  await installationSecrets(db, masterKeys, now)
  await query(
    database.url,
    'update installation_secrets set sealed_support_token = sealed_form_key, sealed_form_key = sealed_support_token',
  )
  await expect(installationSecrets(db, masterKeys, now)).rejects.toThrow()
})

test('the table accepts one row only', async () => {
  await installationSecrets(db, masterKeys, now)
  const copy = `insert into installation_secrets select false, master_key_id, wrapped_key, sealed_support_token,
    sealed_form_key, created_at from installation_secrets`
  await expect(query(database.url, copy)).rejects.toThrow('installation_secrets_only_row_check')
})
