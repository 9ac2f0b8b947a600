import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { openDb } from '../../src/store/db.ts'
import { tollgate, tollgateJson } from './tollgate.ts'

let database: FreshDatabase
let gateway: TestGateway | undefined
beforeAll(async () => {
  database = await migratedDatabase()
})
afterAll(async () => {
  await gateway?.stop()
  await database.drop()
})

test('nodes lists the running nodes and one that has died, with what to do', async () => {
  const env = { DATABASE_URL: database.url }
  const none = await tollgate(env, 'nodes')
  expect(none.stdout).toBe('No node runs on this database.\n')
  gateway = await testGateway({}, {}, { url: database.url, drop: async () => {} })
  const db = openDb(database.url, 1)
  await expect
    .poll(async () => (await db.rows(sql`select 1 from nodes where is_listening`)).length, {
      timeout: 30_000,
    })
    .toBe(1)
  await db.rows(sql`
    insert into nodes select 'dead', 77, true, 'kumasi', 'http://10.0.0.9:8080', version, schema, key_ids, database_address,
      clock_offset_ms, is_paused, started_at, seen_at - interval '1 minute', role from nodes`)
  await db.end()
  const { data } = await tollgateJson(env, 'nodes')
  expect(data).toMatchObject({
    nodes: [
      { name: hostname(), state: 'good', key_ids: [expect.stringMatching(/^[0-9a-f]{16}$/)] },
      { name: 'kumasi', state: 'gone', listens_at: 'http://10.0.0.9:8080' },
    ],
  })
  const shown = await tollgate(env, 'nodes')
  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(
    /NODE +ADDRESS +ROLE +STATE +VERSION +SCHEMA +CLOCK +STARTED +SEEN +MASTER KEYS/,
  )
  expect(shown.stdout).toContain('gone: It has died or lost the database.')
  expect(shown.stdout).not.toContain('silent:')
})
