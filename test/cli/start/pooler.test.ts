import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'
import {
  newPgBouncer,
  oldPgBouncer,
  type PgBouncer,
  startPgBouncer,
} from '../../support/database/pgBouncer.ts'
import { type Env, newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

vi.setConfig({ testTimeout: 60_000 }) // each runs whole programs

let database: FreshDatabase
let pooler: PgBouncer | undefined
beforeAll(async () => {
  database = await migratedDatabase()
})
afterAll(async () => {
  await pooler?.stop()
  await database.drop()
})

async function envBehind(file: string | undefined, settings: Record<string, string | number>): Promise<Env> {
  await pooler?.stop()
  pooler = await startPgBouncer(file as string, database.url, { pool_mode: 'transaction', ...settings })
  return { DATABASE_URL: pooler.url, TOLLGATE_MASTER_KEY: newMasterKey(), PORT: '0' }
}

const fact =
  'connection pooler gives each transaction another session, and does not prepare statements in each of them'
const cure =
  'Use PgBouncer 1.21 or later with max_prepared_statements = 200, or pool_mode = session, or set DATABASE_URL to ' +
  'PostgreSQL itself (docs/database.md).'

test.skipIf(!oldPgBouncer)(
  'behind one without prepared statements, start, a command and doctor say what to do',
  async () => {
    const env = await envBehind(oldPgBouncer, {})
    for (const args of [['start'], ['merchant', 'list']]) {
      const { code, stdout, stderr } = await tollgate(env, ...args)
      expect([code, stdout, stderr]).toEqual([69, '', `The ${fact}. ${cure}\n`])
    }
    const { code, data } = await tollgateJson(env, 'doctor')
    expect(code).toBe(1)
    expect(data.checks).toContainEqual({ check: 'pooler', state: 'failed', fact: `the ${fact}`, todo: cure })
  },
)

test.skipIf(!newPgBouncer)(
  'behind one that prepares them, commands work and doctor names its mode',
  async () => {
    const env = await envBehind(newPgBouncer, { max_prepared_statements: 200 })
    expect((await tollgate(env, 'merchant', 'list')).code).toBe(0)
    const { data } = await tollgateJson(env, 'doctor')
    const found = data.checks.find(({ check }: { check: string }) => check === 'pooler')
    expect(found).toMatchObject({ state: 'ok', fact: expect.stringContaining('each transaction a session') })
  },
)
