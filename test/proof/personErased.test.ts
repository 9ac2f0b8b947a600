import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealAuditLog, verifyAuditLog } from '../../src/actions/access/auditSeal.ts'
import { sealTransfers } from '../../src/actions/ledger/seal.ts'
import { isIntact, verifyLedger } from '../../src/actions/ledger/verify.ts'
import { reference } from '../../src/core/payment/reference.ts'
import { sql } from '../../src/store/db.ts'
import { launch } from '../cli/tollgate.ts'
import { query } from '../support/database/database.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { after, noon, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

// kill -9 of `tollgate person erase` while it removes the data of a person with thousands of payments, and two of them at
// once. Whatever is interrupted, the next run leaves nothing of the person, and amounts, references and seals stay.

const many = 5200
const some = 600
const sealedAt = new Date(Date.now() + 3 * 3_600_000)

type Person = { phone: string; email: string; traces: string }
const ama: Person = {
  phone: '0241234567',
  email: 'ama.mensah@mail.example',
  traces: 'ama[.]mensah|24[ .-]*123[ .-]*4567',
}
const yaw: Person = {
  phone: '0209876543',
  email: 'yaw.boateng@mail.example',
  traces: 'yaw[.]boateng|20[ .-]*987[ .-]*6543',
}

let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  merchant = await shop.addMerchant('Kofi Shop')
  await addPayments(ama, many)
  await addPayments(yaw, some)
  await shop.db.rows(sql`update deliveries set next_try_at = null, acknowledged_at = ${noon}`)
  await shop.db.rows(sql`update messages set next_try_at = null, state = 'sent', sent_at = ${noon}`)
  await sealTransfers(shop.db, merchant.merchant_id, sealedAt)
}, 120_000)
afterAll(() => shop.stop())

// A table after those that it refers to.
const tables = [
  'payments',
  'attempts',
  'events',
  'notifications',
  'deliveries',
  'tries',
  'messages',
  'transfers',
]
let tails = 0

// One payment by the real actions, and copies of all its rows.
async function addPayments({ phone, email }: Person, count: number) {
  const invoice_id = `ORDER-${++tails}-`
  const asked = await shop.ask(merchant, {
    name: 'Ama Mensah',
    email,
    number: phone,
    total: '25.00',
    invoice_id,
  })
  const { tx_reference, tx_token } = await shop.try(asked, yes, { input: { phone } })
  const [attempt] = await shop.db.rows<{ attempt_id: string }>(
    sql`select attempt_id from attempts where tx_reference = ${tx_reference}`,
  )
  const copies = Array.from({ length: count - 1 }, () => reference(after(++tails).getTime(), tails))
  for (const table of tables) {
    await query(
      shop.url,
      `insert into ${table}
       select r.* from ${table} t, unnest($5::text[]) with ordinality as copies (copy, n),
         jsonb_populate_record(t, replace(replace(replace(replace(to_jsonb(t)::text, $1, copy), $2, $2 || n), $3, $3 || n),
           $4, $4 || n)::jsonb) r
       where t.tx_reference = $1`,
      [tx_reference, tx_token, attempt?.attempt_id, invoice_id, copies],
    )
    await query(shop.url, `analyze ${table}`) // so that the checks of foreign keys use the index
  }
}

// Every text, in whichever column of whichever table, that has the number or address.
async function found({ traces }: Person): Promise<string[]> {
  const columns = await query(
    shop.url,
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'jsonb', 'bytea', 'character varying')`,
  )
  const looks = columns.map(
    ({ table_name, column_name, data_type }) =>
      `select '${table_name}.${column_name}' as place from ${table_name}
       where ${data_type === 'bytea' ? `encode(${column_name}, 'escape')` : `${column_name}::text`} ~* $1`,
  )
  const rows = await query(shop.url, looks.join(' union '), [traces])
  return rows.map(({ place }) => place as string).toSorted()
}

// What has to stay, whoever the payer was.
const kept = () =>
  query(
    shop.url,
    `select count(*)::integer as payments, sum(total)::integer as total, md5(string_agg(tx_reference || invoice_id || status ||
       coalesce(payment_reference, ''), ',' order by tx_reference)) as names,
       (select md5(string_agg(t::text, ',' order by transfer_id)) from transfers t) as transfers from payments`,
  )

const isLedgerIntact = async () => isIntact(await verifyLedger(shop.db, merchant.merchant_id, sealedAt))

const erased = async () =>
  (
    await shop.db.one<{ count: number }>(
      sql`select count(*)::integer as count from payments where redacted_at is not null`,
    )
  )?.count ?? 0

const erase = ({ phone }: Person) => launch(shop.env, 'person', 'erase', phone, '--yes', '--json')

test('killed at several moments and run again, nothing of the person is left, and what has to stay stays', async () => {
  const before = await kept()
  expect(before[0].payments).toBe(many + some)
  expect((await found(ama)).length).toBeGreaterThan(5)
  for (const least of [1, 2500]) {
    const running = erase(ama)
    while ((await erased()) < least) await sleep(50)
    running.child.kill('SIGKILL')
    await running.ended
    expect(await erased()).toBeLessThan(many)
    expect(await kept()).toEqual(before)
  }
  const already = await erased()
  const last = await erase(ama).ended
  expect(JSON.parse(last.stdout)).toMatchObject({ erased: many - already, kept: [] })
  expect(await found(ama)).toEqual([])
  expect(await erased()).toBe(many)
  expect(await kept()).toEqual(before)
  expect(await isLedgerIntact()).toBe(true)
  expect((await found(yaw)).length).toBeGreaterThan(5)
})

test('two erasures at once leave nothing, and each payment is erased by one of them', async () => {
  const before = await kept()
  const both = await Promise.all([erase(yaw).ended, erase(yaw).ended])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const results = both.map(({ stdout }) => JSON.parse(stdout) as { erased: number })
  expect(results.reduce((sum, one) => sum + one.erased, 0)).toBe(some)
  expect(await found(yaw)).toEqual([])
  expect(await kept()).toEqual(before)
  expect(await isLedgerIntact()).toBe(true)
  await sealAuditLog(shop.db, sealedAt)
  expect((await verifyAuditLog(() => shop.db)).sealFault).toBeNull()
})
