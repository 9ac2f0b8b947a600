import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestNotifications } from '../../../src/actions/notifications/findNotifications.ts'
import { newestPayments } from '../../../src/actions/payments/findPayments.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql, type Tx } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, minutes, no, noon, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

const most = 5 // that a list looks at, of one merchant

let shop: TestShop
let merchant: TestMerchant
const payments: Payment[] = [] // oldest first: two failed, then ten paid, a minute apart

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Ama Shop', 'ipn_url=https://shop.example/ipn')
  for (let n = 0; n < 12; n++) {
    shop.setNow(after(minutes(n)))
    const payment = await shop.ask(merchant, { invoice_id: `L-${n}` })
    payments.push(await shop.try(payment, n < 2 ? no : yes, { input: { phone: `02412345${10 + n}` } }))
  }
  await shop.db.rows(sql`update deliveries set next_try_at = null, acknowledged_at = ${noon}`)
  await shop.db.rows(sql`
    update deliveries set acknowledged_at = null, exhausted_at = ${noon} where tx_reference = ${payments[0]?.tx_reference}`)
})
afterAll(() => shop.stop())

const references = (found: readonly { tx_reference: string }[]) =>
  found.map(({ tx_reference }) => tx_reference)
const newest = (from: number, to: number) => references(payments.slice(from, to)).toReversed()

test('a list that has what it wants says nothing of others', async () => {
  const found = await newestPayments(shop.db, { merchant_id: merchant.merchant_id, limit: 3 }, most)
  expect(references(found.payments)).toEqual(newest(9, 12))
  expect(found.before).toBeUndefined()
})

for (const merchant_id of ['one merchant', 'all'] as const)
  test(`payments that are rare: it looks at so many of ${merchant_id}, and goes on where it ended`, async () => {
    const filter = {
      ...(merchant_id === 'all' ? {} : { merchant_id: merchant.merchant_id }),
      status: 'failed' as const,
      limit: 20,
    }
    const found: string[] = []
    const looks: (string | undefined)[] = []
    for (let before: string | undefined; looks.length === 0 || before !== undefined; ) {
      const list = await newestPayments(shop.db, { ...filter, before }, most)
      found.push(...references(list.payments))
      before = list.before
      looks.push(before)
    }
    expect(found).toEqual(newest(0, 2))
    expect(looks).toEqual([payments[7]?.tx_reference, payments[2]?.tx_reference, undefined])
  })

test('notifications that are rare: it goes on where it ended, and each is seen', async () => {
  const { merchant_id } = merchant
  const found: string[] = []
  let until: Date | undefined
  let looks = 0
  do {
    const list = await newestNotifications(shop.db, { merchant_id, until, limit: 20 }, most)
    found.push(...references(list.notifications))
    until = list.until
    looks++
  } while (until)
  expect([...new Set(found)]).toEqual(newest(0, 12))
  expect(looks).toBeGreaterThan(2)
})

for (const [state, count] of [
  ['exhausted', 1],
  ['due', 0],
] as const)
  test(`what is ${state} is found by its own index, however many others there are`, async () => {
    await shop.db.rows(sql`
      insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at)
      select ${merchant.merchant_id}, 'X-' || n, 1, 'live', '', '', 'post', ${noon}, ${noon}
      from generate_series(1, 10000) n on conflict do nothing`)
    await shop.db.rows(sql`analyze deliveries`)
    const { read, list } = await shop.db.transaction(async tx => {
      const before = await readOf(tx)
      const { merchant_id } = merchant
      return {
        list: await newestNotifications(tx as never, { merchant_id, state, limit: 20 }, most),
        read: (await readOf(tx)) - before,
      }
    })
    expect(list.notifications).toHaveLength(count)
    expect(list.until).toBeUndefined()
    expect(read).toBeLessThanOrEqual(2 * count)
  })

// Of deliveries, by this connection, in rows.
const readOf = async (tx: Tx) =>
  (
    await tx.one<{ read: number }>(sql`
      select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_xact_user_tables
      where relname = 'deliveries'`)
  )?.read ?? 0
