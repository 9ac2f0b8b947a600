import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rewrapInstallation } from '../../src/actions/installation/secrets.ts'
import { rewrapKeys } from '../../src/actions/merchants/rewrapKeys.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { sql } from '../../src/store/db.ts'
import { masterKeyId } from '../../src/store/merchants/vault.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { tollgate } from './tollgate.ts'

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
const [oldHex, newHex] = [oldKey.toString('hex'), newKey.toString('hex')]
let database: FreshDatabase
let gateway: TestGateway
let ama: TestMerchant
let kofi: TestMerchant
beforeAll(async () => {
  database = await migratedDatabase()
  gateway = await startWith(oldHex)
  ama = await gateway.addMerchant()
  kofi = await gateway.addMerchant()
})
afterAll(async () => {
  await gateway.stop()
  await database.drop()
})

const startWith = (keys: string) =>
  testGateway({ TOLLGATE_MASTER_KEY: keys }, {}, { url: database.url, drop: async () => {} })
const rotate = () =>
  tollgate({ DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: `${newHex},${oldHex}` }, 'master-key', 'rotate')
const readyz = () => send(`${gateway.url}/readyz`)
const keysOfNodes = async () =>
  (await gateway.db.rows<{ key_ids: string[] }>(sql`select key_ids from nodes`)).map(({ key_ids }) => key_ids)

// A node that holds no lock.
const addNode = (listens_at: string, key_id: string, secondsAgo: number) =>
  gateway.db.rows(sql`
    insert into nodes (node, number, is_listening, name, listens_at, version, schema, key_ids, database_address,
      clock_offset_ms, is_paused, role, started_at, seen_at)
    select ${listens_at}, 77, true, 'kumasi', ${listens_at}, '0.3.0', 1, ${[key_id]}::text[], 'db', 0, false, 'all', seen, seen
    from (select clock_timestamp() - ${secondsAgo} * interval '1 second') as at (seen)`)

test('a rotation is refused while a running node lacks the new key', async () => {
  await expect.poll(keysOfNodes, { timeout: 30_000 }).toEqual([[masterKeyId(oldKey)]])
  const { code, stderr } = await rotate()
  expect(code).toBe(1)
  expect(stderr).toContain(`These nodes do not have the new key ${masterKeyId(newKey)}`)
  expect(stderr).toContain(gateway.url)
  const inUse = await gateway.db.rows<{ master_key_id: string }>(
    sql`select distinct master_key_id from merchants`,
  )
  expect(inUse).toEqual([{ master_key_id: masterKeyId(oldKey) }])
})

test('a node that has lost its lock a moment ago counts', async () => {
  await addNode('http://10.0.0.8:8080', masterKeyId(oldKey), 9)
  const { code, stderr } = await rotate()
  expect(code).toBe(1)
  expect(stderr).toContain('kumasi (http://10.0.0.8:8080)')
  await gateway.db.rows(sql`delete from nodes where number = 77`)
})

test('a node that lacks a key in use is not ready', async () => {
  expect((await readyz()).http).toBe(200)
  const both = givenMasterKeys([newKey, oldKey])
  await rewrapKeys(gateway.db, both)
  await rewrapInstallation(gateway.db, both)
  await expect
    .poll(async () => (await readyz()).text, { timeout: 30_000 })
    .toBe(`not ready: the master key ${masterKeyId(newKey)} is in use, and this node does not have it`)
  await gateway.stop()
  await expect(startWith(oldHex)).rejects.toThrow(masterKeyId(newKey))
  gateway = await startWith(`${newHex},${oldHex}`)
  expect((await readyz()).http).toBe(200)
  expect((await rotate()).code).toBe(0)
})

test('a merchant whose secrets nobody can open is a task, and no outage', async () => {
  await gateway.db.rows(sql`
    update merchants set master_key_id = 'ffffffffffffffff' where merchant_id = ${kofi.merchant_id}`)
  await addNode('http://10.0.0.9:8080', 'ffffffffffffffff', 31) // it was killed
  await gateway.stop()
  gateway = await startWith(newHex)
  expect((await readyz()).http).toBe(200)
  expect((await post(gateway.url, signedRequest(ama.test, {}))).http).toBe(200)
  expect((await post(gateway.url, signedRequest(kofi.test, {}))).http).toBe(503)
  const env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newHex }
  const said = `(${kofi.merchant_id}) cannot be opened: master key ffffffffffffffff is missing`
  expect((await tollgate(env, 'task', 'list')).stdout).toContain(said)
  expect((await tollgate(env, 'doctor')).stdout).toContain(said)
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  expect(text).toMatch(/^tollgate_unreadable_secrets 1$/m)
})
