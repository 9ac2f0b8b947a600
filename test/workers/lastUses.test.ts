import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { createUsedCredentials } from '../../src/runtime/usedCredentials.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { listIpnSecrets, listMerchantKeys } from '../../src/store/merchants/credentials.ts'
import { startLastUses } from '../../src/workers/lastUses.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'

let database: FreshDatabase
let db: Db
let merchant_id: string
let now = new Date('2026-03-02T09:00:00Z')
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 3)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(async () => {
  now = new Date('2026-03-02T09:00:00Z')
  const keys = givenMasterKeys([Buffer.alloc(32, 7)])
  merchant_id = (await onboard(db, keys, 'Ama Shop', ['test', 'live'], now)).merchant_id
})

const keysNow = () => listMerchantKeys(db, merchant_id)
const lastUses = async () => (await keysNow()).map(({ last_used_at }) => last_used_at?.toISOString() ?? null)
const at = (time: string) => `2026-03-02T${time}:00.000Z`

// A node whose clock the test sets.
function startNode() {
  const [keys, secrets] = [createUsedCredentials(), createUsedCredentials()]
  const faults: unknown[] = []
  const { stop } = startLastUses({
    db,
    clock: () => now,
    keys,
    secrets,
    trouble: error => void faults.push(error),
    restMs: 10,
  })
  return { keys, secrets, stop, faults }
}

test('the first use of a key is written soon, later ones once an hour', async () => {
  const node = startNode()
  const [first] = await keysNow()
  const use = (time: string) => {
    now = new Date(at(time))
    node.keys.add(first?.merchant_key ?? '', merchant_id)
  }
  use('09:00')
  await expect.poll(lastUses).toEqual([at('09:00'), null])
  use('09:59')
  await expect.poll(() => node.keys.take().size).toBe(0)
  expect(await lastUses()).toEqual([at('09:00'), null])
  use('10:05')
  await expect.poll(lastUses).toEqual([at('10:05'), null])
  await node.stop()
  expect(node.faults).toEqual([])
})

test('of two nodes one writes the hour, and a node that stops writes what it has', async () => {
  const nodes = [startNode(), startNode()]
  const [first, second] = await keysNow()
  for (const { keys } of nodes) keys.add(first?.merchant_key ?? '', merchant_id)
  await expect.poll(lastUses).toEqual([at('09:00'), null])
  now = new Date(at('09:30'))
  for (const { keys } of nodes) keys.add(first?.merchant_key ?? '', merchant_id)
  nodes[0]?.keys.add(second?.merchant_key ?? '', merchant_id)
  for (const { stop } of nodes) await stop()
  expect(await lastUses()).toEqual([at('09:00'), at('09:30')])
})

test('a secret is written by its merchant', async () => {
  const node = startNode()
  const [secret] = await listIpnSecrets(db, merchant_id)
  node.secrets.add(secret?.secret_id ?? '', 'another')
  await expect.poll(() => node.secrets.take().size).toBe(0)
  node.secrets.add(secret?.secret_id ?? '', merchant_id)
  now = new Date(at('11:00'))
  await node.stop()
  const [written] = await listIpnSecrets(db, merchant_id)
  expect(written?.last_used_at?.toISOString()).toBe(at('11:00'))
})
