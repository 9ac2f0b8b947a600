import { Command } from 'commander'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHealthExchange } from '../../../src/actions/providers/healthExchange.ts'
import { addProviderStatus } from '../../../src/cli/provider/status.ts'
import type { Output } from '../../../src/cli/output.ts'
import { createHealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'

let database: FreshDatabase
let db: Db
const former = process.env.DATABASE_URL
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  process.env.DATABASE_URL = database.url
})
afterAll(async () => {
  if (former === undefined) delete process.env.DATABASE_URL
  else process.env.DATABASE_URL = former
  await db.end()
  await database.drop()
})
beforeEach(() => db.rows(sql`delete from provider_health`))

// As a gateway would have written it.
async function seen(account: string, what: 'paid' | 'unanswered', count = 5) {
  const monitors = createHealthMonitors()
  const { step } = createHealthExchange({ db, clock: () => new Date(), keepers: monitors })
  for (let n = 0; n < count; n++) monitors.windows.count(account, 'wallet', { what })
  monitors.windows.countUnknownCode(account, 'wallet', 'HELD for 233244123456')
  await step()
}

async function status(): Promise<Output & { exit: unknown }> {
  let printed: Output = { data: undefined, text: '' }
  const program = new Command()
  addProviderStatus(program, { json: false, print: answer => (printed = answer) })
  const before = process.exitCode
  await program.parseAsync(['status'], { from: 'user' })
  const exit = process.exitCode
  process.exitCode = before
  return { ...printed, exit }
}

test('nothing was sent to anybody', async () => {
  expect(await status()).toMatchObject({
    data: { methods: [], waiting: [] },
    exit: 0,
    text: /^Nothing was sent/,
  })
})

test('a row for each account and way, with the words that we do not know, masked', async () => {
  await seen('mtn', 'paid')
  const { text, data, exit } = await status()
  expect(text).toMatch(/mtn +wallet +healthy +closed/)
  expect(text).toContain('mtn wallet: 1 times HELD for #')
  expect(JSON.stringify(data)).not.toContain('233244')
  expect(exit).toBe(0)
})

test('credentials that a provider refuses are said, in its words', async () => {
  const monitors = createHealthMonitors()
  const { step } = createHealthExchange({ db, clock: () => new Date(), keepers: monitors })
  monitors.windows.count('paystack', 'card', { what: 'unanswered' })
  monitors.windows.fail('paystack', 'card', 'a1', 'Paystack does not take the secret key: HTTP 401', true)
  await step()
  const { text, exit } = await status()
  expect(text).toContain(
    'paystack card, 0 s ago: Paystack does not take the secret key: HTTP 401. The credentials are refused: tollgate provider test paystack',
  )
  expect(exit).toBe(1)
})

test('scripts hear of one that is down', async () => {
  await seen('mtn', 'paid')
  await seen('paystack', 'unanswered')
  expect(await status()).toMatchObject({
    exit: 1,
    data: {
      methods: [
        { account: 'mtn', health: 'healthy' },
        { account: 'paystack', health: 'down', unanswered: 5 },
      ],
    },
  })
})
