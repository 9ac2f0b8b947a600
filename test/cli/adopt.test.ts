import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'
import { tollgate, tollgateJson } from './tollgate.ts'

const soon = { timeout: 30_000, interval: 50 }
const masterKey = '7'.repeat(64)

let database: FreshDatabase
let gateway: TestGateway
let env: Record<string, string>

// A gateway on a database whose only known address is another one, as on a copy.
beforeAll(async () => {
  database = await migratedDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: masterKey }
  const first = await testGateway(env, {}, { url: database.url, drop: async () => {} })
  await first.addMerchant()
  await first.stop()
  await query(database.url, `update installation_addresses set address = 'db:5432/tollgate'`)
  gateway = await testGateway(env, {}, { url: database.url, drop: async () => {} })
}, 60_000)
afterAll(async () => {
  await gateway.stop()
  await database.drop()
})

const get = (path: string) =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${operatorToken}` } })
const metric = async () =>
  /^tollgate_database_copy \d$/m.exec(await (await get('/metrics')).text())?.[0] ?? ''

test('a gateway on a copy is not ready and says why, in its log and its metrics', async () => {
  const ready = await get('/readyz')
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringMatching(
      /not ready: .*is a copy: no node has used it at this address before.*tollgate adopt/,
    ),
  ])
  expect(await metric()).toBe('tollgate_database_copy 1')
  expect(gateway.logs.join('')).toMatch(/"level":50.*The database of this gateway is a copy/)
})

test('doctor says so, with the cure', async () => {
  const { data } = await tollgateJson(env, 'doctor')
  expect(data.checks).toContainEqual({
    check: 'copy',
    state: 'failed',
    fact: 'the database is a copy: no node has used it at this address before',
    todo: expect.stringContaining('tollgate adopt'),
  })
})

test('adopt asks first, and a script has to confirm', async () => {
  const { code, stderr } = await tollgate(env, 'adopt')
  expect([code, stderr]).toEqual([1, expect.stringMatching(/Nothing was changed.*--yes/)])
  expect((await get('/readyz')).status).toBe(503)
})

test('adopt declares it the real one: the running gateway is ready, and the audit log has it', async () => {
  const { data } = await tollgateJson(env, 'adopt', '--yes')
  expect(data).toMatchObject({ adopted: true, backlog: { deliveries: 0, messages: 0, attempts: 0 } })
  await expect.poll(async () => (await get('/readyz')).status, soon).toBe(200)
  expect(await metric()).toBe('tollgate_database_copy 0')
  expect(await query(database.url, 'select address from installation_addresses')).not.toContainEqual({
    address: 'db:5432/tollgate',
  })
  const { stdout } = await tollgate(env, 'audit', 'list')
  expect(stdout).toMatch(/database\.adopt|declared the database/)
})

test('once more it changes nothing', async () => {
  const { data } = await tollgateJson(env, 'adopt', '--yes')
  expect(data).toMatchObject({ adopted: false })
})

test('a gateway refuses to start on a database that has moved, and names the other one', async () => {
  await query(database.url, `update installation set state = 'moved', moved_to = 'new:5432/tollgate'`)
  await expect(testGateway(env, {}, database)).rejects.toThrow(
    /were moved to new:5432\/tollgate\. Set DATABASE_URL/,
  )
  await expect.poll(async () => (await get('/readyz')).status, soon).toBe(503)
})
