import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHealthExchange } from '../../../src/workers/providerHealth.ts'
import { createHealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'
import { runInProcess } from '../inProcess.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})
beforeEach(() => db.rows(sql`delete from provider_health`))

// As a gateway stores it.
async function storeCalls(account: string, what: 'paid' | 'unanswered', count = 5) {
  const monitors = createHealthMonitors()
  const exchange = createHealthExchange(db, monitors)
  for (let n = 0; n < count; n++) monitors.account(account).count('wallet', { [what]: 1 })
  const reply = { state: 'unknown', words: '', unknownCode: 'HELD for 233244123456' } as const
  const called = { verb: 'ask', attempt_id: 'a1', payment_method: 'wallet', isSubmission: true } as const
  monitors.account(account).begin(called)({ reply, delayMs: 1, timeoutMs: 5000 })
  await exchange()
}

async function status() {
  const env = { DATABASE_URL: database.url }
  const { stdout: text, code } = await runInProcess(env, ['provider', 'status'])
  const json = await runInProcess(env, ['provider', 'status', '--json'])
  expect(json.code).toBe(code)
  return { text, code, data: JSON.parse(json.stdout) }
}

test('docs/commands.md has the columns and the keys', async () => {
  await storeCalls('mtn', 'paid')
  const { text, data } = await status()
  const section =
    readFileSync('docs/commands.md', 'utf8').split('## Provider status')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| ([A-Z].*?) \| (`.*?`) \| /gm)]
  expect(text.split('\n')[0]?.split(/ {2,}/)).toEqual(rows.flatMap(([, titles = '']) => titles.split(', ')))
  const { methods } = data
  for (const key of Object.keys(methods[0] ?? {})) expect(section).toContain(`\`${key}\``)
  for (const [, , keys = ''] of rows)
    for (const key of keys.replaceAll('`', '').split(', ')) expect(methods[0]).toHaveProperty(key)
})

test('there were no calls', async () => {
  expect(await status()).toMatchObject({
    data: { methods: [], waiting: [] },
    code: 0,
    text: expect.stringMatching(/^No calls to providers/),
  })
})

test('a row for each account and payment method, with unknown codes, masked', async () => {
  await storeCalls('mtn', 'paid')
  const { text, data, code } = await status()
  expect(text).toMatch(/mtn +wallet +healthy +closed/)
  expect(text).toContain('mtn wallet: 1 × HELD for #')
  expect(JSON.stringify(data)).not.toContain('233244')
  expect(code).toBe(0)
})

test('refused credentials are shown with the text of the provider', async () => {
  const monitors = createHealthMonitors()
  const exchange = createHealthExchange(db, monitors)
  const words = 'Paystack does not accept the secret key: HTTP 401'
  monitors.account('paystack').begin({ verb: 'start', attempt_id: 'a1', payment_method: 'card' })({
    reply: { state: 'unknown', words, isRefusal: true },
    delayMs: 1,
    timeoutMs: 5000,
  })
  await exchange()
  const { text, code } = await status()
  expect(text).toContain(
    'paystack card, 0 s ago: Paystack does not accept the secret key: HTTP 401. The credentials are refused: tollgate provider test paystack',
  )
  expect(code).toBe(1)
})

test('the exit code is 1 if an account is down', async () => {
  await storeCalls('mtn', 'paid')
  await storeCalls('paystack', 'unanswered')
  expect(await status()).toMatchObject({
    code: 1,
    data: {
      methods: [
        { account: 'mtn', health: 'healthy' },
        { account: 'paystack', health: 'down', unanswered: 5 },
      ],
    },
  })
})
