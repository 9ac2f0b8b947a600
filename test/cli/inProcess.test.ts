import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type Env, launch, newMasterKey, tollgate } from './tollgate.ts'

// Most tests run commands in the process of the test. The output is the same as that of the program.
let database: FreshDatabase
let env: Env
beforeAll(async () => {
  database = await migratedDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey() }
})
afterAll(() => database.drop())

test.each([
  [0, []],
  [0, ['merchant', 'list']],
  [0, ['merchant', 'list', '--json']],
  [1, ['merchant', 'show', 'nobody', '--json']],
  [2, ['merchant', 'dance']],
  [2, ['payment']],
])('a process ends with %d, and says the same: tollgate %j', async (code, args) => {
  const ran = await launch(env, ...args).ended
  expect(ran.code).toBe(code)
  expect(await tollgate(env, ...args)).toEqual(ran)
})
