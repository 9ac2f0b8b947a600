import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/actions/ledger/verify.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { listMerchants } from '../../src/store/merchants/merchants.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { catalogOf } from '../support/database/catalog.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { after, minutes } from '../support/payments/rows.ts'
import { checkStatus, send } from '../support/merchant/merchant.ts'
import { laterRelease } from '../support/database/migrations.ts'
import { openReceiver } from '../support/merchant/receiver.ts'
import { readHeader } from './dump.ts'
import { paidInvoice, polledInvoice, shopUrl } from './records.ts'

// Databases that released versions made: this version upgrades each of them, and so does a later one.
const fixtures = readdirSync('test/upgrade/fixtures')
const later = laterRelease({
  '9001_payments_tip.sql': `alter table payments add tip bigint not null default 0;
    create index payments_by_tip on payments (merchant_id, tip);`,
})

test('there is a database of 0.2.0, the first release', () => expect(fixtures).toContain('0.2.0.sql'))

for (const file of fixtures)
  describe(`a database of ${file.replace('.sql', '')}`, () => {
    const fixture = readFileSync(`test/upgrade/fixtures/${file}`, 'utf8')
    const { master_key, made_at } = readHeader(fixture)
    const kept = [...fixture.matchAll(/^insert into migrations .* values \('([^']+)'/gm)].map(
      ([, name]) => name,
    )
    let database: FreshDatabase
    let receiver: Awaited<ReturnType<typeof openReceiver>>
    let db: Db
    let before: Rows
    beforeAll(async () => {
      receiver = await openReceiver()
      database = await freshDatabase()
      db = openDb(database.url, 2)
      await query(database.url, fixture.replaceAll(`${shopUrl}/`, `${receiver.url}/`))
      const rows = await rowsOf(database.url)
      before = sharedColumns(rows, rows)
    })
    afterAll(async () => {
      await db.end()
      await database.drop()
      await receiver.close()
    })

    test('takes the migrations that it lacks, and has the schema of a new one', async () => {
      expect(await migrate(db, { folder: later })).toEqual(
        migrationNames(later).filter(name => !kept.includes(name)),
      )
      const fresh = await freshDatabase()
      const made = openDb(fresh.url, 1)
      await migrate(made, { folder: later })
      expect(await catalogOf(database.url)).toEqual(await catalogOf(fresh.url))
      await made.end()
      await fresh.drop()
    })

    for (const table of [
      'payments',
      'attempts',
      'deliveries',
      'notifications',
      'tasks',
      'messages',
      'events',
    ])
      test(`keeps all its ${table}`, async () => {
        expect(before[table]?.length).toBeGreaterThan(5)
        expect(sharedColumns(await rowsOf(database.url), before)[table]).toEqual(before[table])
      })

    test('keeps every other row', async () => {
      const { migrations: _, ...others } = before
      expect(sharedColumns(await rowsOf(database.url), before)).toMatchObject(others)
    })

    describe('and a gateway', () => {
      let gateway: TestGateway
      beforeAll(async () => {
        gateway = await testGateway(
          { TOLLGATE_MASTER_KEY: master_key, TOLLGATE_EGRESS_LOOPBACK: 'on' },
          { migrationFolder: later, clock: () => after(minutes(5), new Date(made_at)) },
          { url: database.url, drop: async () => {} },
        )
      })
      afterAll(() => gateway.stop())

      const status = async (invoice_id: string) => {
        const [key] = await db.rows<{ merchant_key: string }>(sql`
          select merchant_key from merchant_keys join payments using (merchant_id, mode)
          where invoice_id = ${invoice_id} order by merchant_keys.expires_at nulls first limit 1`)
        const found = await checkStatus(gateway.url, { merchant_key: key?.merchant_key ?? '', invoice_id })
        return found.body.status as string
      }

      test('is ready and answers status checks', async () => {
        expect(await send(`${gateway.url}/readyz`)).toMatchObject({ http: 200, text: 'ready' })
        const stored = before.payments as { invoice_id: string; status: string }[]
        for (const payment of stored.filter(one => one.status !== 'awaiting_payment'))
          expect(await status(payment.invoice_id)).toBe(payment.status)
      })

      test('sends a delivery that was due', async () => {
        await expect.poll(async () => (await deliveryOf(db, paidInvoice))?.acknowledged).toBe(true)
        expect(receiver.received.map(({ body }) => body)).toContain((await deliveryOf(db, paidInvoice))?.body)
      })

      test('books the charges from before the ledger', async () => {
        const merchants = await listMerchants(db)
        const verify = () =>
          Promise.all(merchants.map(({ merchant_id }) => verifyLedger(db, merchant_id, new Date(made_at))))
        await expect.poll(async () => (await verify()).flatMap(one => one.wrongCharges)).toEqual([])
        const kinds = await db.rows<{ kind: string }>(sql`select distinct kind from transfers order by kind`)
        expect(kinds.map(({ kind }) => kind)).toEqual(
          expect.arrayContaining(['charge', 'dispute_lost', 'reversal', 'unmatched_charge']),
        )
      })

      test('polls a pending attempt, and its payment becomes paid', () =>
        expect.poll(() => status(polledInvoice)).toBe('paid'))
    })
  })

async function deliveryOf(db: Db, invoice_id: string) {
  const [row] = await db.rows<{ body: string; acknowledged: boolean }>(sql`
    select body, acknowledged_at is not null as acknowledged
    from deliveries join notifications using (merchant_id, tx_reference, sequence)
      join payments using (merchant_id, tx_reference)
    where invoice_id = ${invoice_id}`)
  return row
}

type Rows = Record<string, Record<string, unknown>[]>

async function rowsOf(url: string): Promise<Rows> {
  const tables = await query(
    url,
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  const rows: Rows = {}
  for (const { name } of tables as { name: string }[])
    rows[name] = (await query(url, `select to_jsonb(t) as row from ${name} t`)).map(
      ({ row }) => row as Record<string, unknown>,
    )
  return rows
}

// Sorted, and without later columns, so that rows can be compared with those of before.
const sharedColumns = (rows: Rows, before: Rows): Rows =>
  Object.fromEntries(
    Object.entries(rows).map(([table, all]) => {
      const columns = new Set((before[table] ?? []).flatMap(row => Object.keys(row)))
      const shared = all.map(row =>
        Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name))),
      )
      return [table, shared.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))]
    }),
  )
