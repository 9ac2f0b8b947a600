import { afterAll, beforeAll, expect, test } from 'vitest'
import { reference, referencePeriods } from '../../../src/core/payment/reference.ts'
import { type Db, openDb, type Query } from '../../../src/store/db.ts'
import {
  latestPayments,
  oldestReference,
  paymentsByAttempt,
  paymentsByEmail,
  paymentsByNumber,
  paymentsByProviderRef,
  paymentsByToken,
  paymentsByWallet,
} from '../../../src/store/payments/paymentSearch.ts'
import { type FreshDatabase, migratedDatabase, query } from '../../support/database/database.ts'

// With 40,000 payments, a search that reads a whole table would be chosen if it had no index.
let database: FreshDatabase
let db: Db
const now = new Date()
const at = (ago: number) => reference(now.getTime() - ago * 1000, 0).slice(0, 9)

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  for (const text of [
    `insert into merchants (merchant_id, name, master_key_id, wrapped_key, created_at)
      select 'm' || n, 'Merchant ' || n, '', '', now() from generate_series(0, 9) n`,
    `insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, number, email,
        request_digest, created_at, updated_at, expires_at)
      select 'm' || n % 10, '${at(0)}-' || lpad(n::text, 13, '0'), 'test', 'i' || n, 't' || n, 'paid', 100, 'GHS',
        '+23324' || lpad((n / 2)::text, 7, '0'), 'c' || n / 2 || '@mail.example', '', now(), now(), now()
      from generate_series(1, 40000) n`,
    `insert into attempts (merchant_id, attempt_id, tx_reference, number, provider_account, payment_method, state, instrument,
        provider_ref, created_at, updated_at)
      select merchant_id, 'a' || tx_token, tx_reference, 1, 'bank', 'card', case when right(tx_token, 1) = '0' then 'failed'
        else 'paid' end, number, 'MP' || tx_token, now(), now() from payments`,
    'analyze',
  ])
    await query(database.url, text)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const periods = referencePeriods(at(86_400 * 365), now)
const merchants = Array.from({ length: 10 }, (_, n) => `m${n}`)

for (const [what, search, index, found] of [
  ['number', tx => paymentsByNumber(tx, '+233240000010', { periods, limit: 20 }), 'payments_by_number', 2],
  ['email', tx => paymentsByEmail(tx, 'C10@mail.example', { periods, limit: 20 }), 'payments_by_email', 2],
  ['wallet', tx => paymentsByWallet(tx, merchants, '+233240000010', 20), 'attempts_paid_by_instrument', 2],
  ['unpaid wallet', tx => paymentsByWallet(tx, merchants, '+233240000010', 20), 'attempts_by_instrument', 2],
  ['reference of a provider', tx => paymentsByProviderRef(tx, 'MPt10', 20), 'attempts_by_provider_ref', 1],
  ['attempt', tx => paymentsByAttempt(tx, 'm1', 'at11'), 'attempts_pkey', 1],
  ['token', tx => paymentsByToken(tx, 'm1', 't11'), 'payments_merchant_id_tx_token_key', 1],
  ['latest', tx => latestPayments(tx, 10), 'payments_pkey', 10],
  ['oldest', async tx => [await oldestReference(tx)], 'payments_pkey', 1],
] as [string, (tx: Db) => Promise<readonly unknown[]>, string, number][])
  test(`the search by ${what} uses an index, and reads no table as a whole`, async () => {
    const plans: string[] = []
    const explaining: Db = {
      ...db,
      rows: async <Row>(asked: Query) => {
        const rows = await query(database.url, `explain ${asked.text}`, asked.values)
        plans.push(...rows.map(row => String(Object.values(row)[0])))
        return db.rows<Row>(asked)
      },
      one: async <Row>(asked: Query) => (await explaining.rows<Row>(asked))[0],
    }
    expect(await search(explaining)).toHaveLength(found)
    const plan = plans.join('\n')
    expect(plan).toContain(index)
    expect(plan).not.toMatch(/Seq Scan on (payments|attempts)/)
  })
