import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redeliver } from '../../src/actions/notifications/redeliver.ts'
import { sql } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { isSharded, titleOnSharded } from '../support/database/shardedDatabase.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { newRefundId, postRefund, refundWhen, signedRefund } from '../support/merchant/refunds.ts'

// The most statements on shards for one of each, with all that belongs to it, and for a minute without work. Reads lock
// nothing. Workers read all the time, so of what they do only the writes are counted.
const limits = {
  initiation: { reads: 0, writes: 1 },
  'status check': { reads: 1, writes: 0 },
  'page of a payment': { reads: 1, writes: 0 },
  'payment with its notification': { writes: 30 },
  'notification that is sent again': { writes: 11 },
  refund: { writes: 36 },
  'idle minute': { reads: 4000, writes: 12 }, // of 8 shards
}

const repeats = 5
const busyMs = 12_000 // after its last work a node reads the due times more often for ten seconds
const idleMs = 20_000

describe.skipIf(!isSharded)(titleOnSharded('the number of statements'), () => {
  let database: FreshDatabase
  let gateway: TestGateway
  let receiver: Receiver
  let shop: TestMerchant

  async function open(role: 'web' | 'all') {
    database = await migratedDatabase()
    const env = { TOLLGATE_EGRESS_LOOPBACK: 'on', TOLLGATE_ROLE: role }
    gateway = await testGateway(env, { sandboxPace: 0.05 }, database)
    shop = await gateway.addMerchant('rate_limit=0')
  }

  beforeAll(async () => {
    receiver = await openReceiver()
  })
  afterAll(() => receiver?.close())

  // What the workers have run since the start, by name of a shard: payments_102040.
  async function runOnWorkers(): Promise<{ reads: number; writes: number }> {
    const counted = `select json_build_object(
        'reads', coalesce(sum(calls) filter (where query ~* '^select' and query !~* 'for (no key )?update'), 0),
        'writes', coalesce(sum(calls) filter (where query !~* '^select' or query ~* 'for (no key )?update'), 0))
      from pg_stat_statements where query ~ '\\m[a-z_]+_[0-9]{6,}\\M'
        and dbid = (select oid from pg_database where datname = current_database())`
    const rows = await query(database.url, 'select success, result from run_command_on_workers($1)', [
      counted,
    ])
    const total = { reads: 0, writes: 0 }
    for (const { success, result } of rows) {
      if (!success) throw new Error(`pg_stat_statements is needed on the workers: ${result}`)
      const { reads, writes } = JSON.parse(result)
      total.reads += reads
      total.writes += writes
    }
    return total
  }

  async function measured(times: number, work: () => Promise<unknown>) {
    await work() // which may plan, and read settings
    const before = await runOnWorkers()
    for (let n = 0; n < times; n++) await work()
    const after = await runOnWorkers()
    return { reads: (after.reads - before.reads) / times, writes: (after.writes - before.writes) / times }
  }

  const initiate = async () => {
    const request = signedRequest(shop.test, { number: '0241234567', ipn_url: `${receiver.url}/ipn` })
    const { http, body, text } = await post(gateway.url, request)
    expect(http, text).toBe(200)
    return { ...(body as { tx_reference: string; checkout_url: string }), invoice_id: request.invoice_id }
  }

  let customers = 0

  async function pay() {
    const { checkout_url, tx_reference, invoice_id } = await initiate()
    const form = {
      number: '1',
      payment_method: 'mtn_mobile_money',
      'mtn_mobile_money.phone': `024${1_000_000 + ++customers * 1000}`, // approves by itself
    }
    await send(`${checkout_url}/pay`, { method: 'POST', body: new URLSearchParams(form) })
    await expect.poll(() => receiver.of(tx_reference).length).toBe(1)
    return { invoice_id, tx_reference }
  }

  // Begins the delivery again, and waits until its result is stored.
  async function sendAgain(tx_reference: string) {
    const { db } = gateway
    const key = { merchant_id: shop.merchant_id, tx_reference, sequence: 1 }
    expect(await redeliver(db, key, new Date())).toMatchObject({ redelivered: 1 })
    await expect
      .poll(() =>
        db.one<{ is_done: boolean }>(sql`
          select acknowledged_at is not null as is_done from deliveries
          where merchant_id = ${key.merchant_id} and tx_reference = ${tx_reference}`),
      )
      .toEqual({ is_done: true })
  }

  async function refund(invoice_id: string) {
    const refund_id = newRefundId()
    const { http, text } = await postRefund(
      gateway.url,
      signedRefund(shop.test, { invoice_id, refund_id, amount: '1.00' }),
    )
    expect(http, text).toBe(200)
    await refundWhen(gateway.url, shop.test, refund_id)
  }

  test('of requests', async () => {
    await open('web')
    try {
      const { invoice_id, checkout_url } = await initiate()
      const found = {
        initiation: await measured(repeats, initiate),
        'status check': await measured(repeats, () =>
          checkStatus(gateway.url, signedQuestion(shop.test, invoice_id)),
        ),
        'page of a payment': await measured(repeats, () => send(checkout_url)),
      }
      for (const [name, { reads, writes }] of Object.entries(found)) {
        const most = limits[name as keyof typeof found]
        expect(reads, `reads of one ${name}`).toBeLessThanOrEqual(most.reads)
        expect(writes, `writes of one ${name}`).toBeLessThanOrEqual(most.writes)
      }
    } finally {
      await gateway.stop()
    }
  }, 120_000)

  test('of payments, notifications, refunds and an idle minute', async () => {
    await open('all')
    try {
      const { invoice_id, tx_reference } = await pay()
      const paid = await measured(repeats, pay)
      const notified = await measured(repeats, () => sendAgain(tx_reference))
      const refunded = await measured(repeats, () => refund(invoice_id))
      await sleep(busyMs)
      const before = await runOnWorkers()
      await sleep(idleMs)
      const after = await runOnWorkers()
      const perMinute = 60_000 / idleMs
      const idle = {
        reads: (after.reads - before.reads) * perMinute,
        writes: (after.writes - before.writes) * perMinute,
      }
      expect(paid.writes, 'writes of one payment').toBeLessThanOrEqual(
        limits['payment with its notification'].writes,
      )
      expect(notified.writes, 'writes of one notification').toBeLessThanOrEqual(
        limits['notification that is sent again'].writes,
      )
      expect(refunded.writes, 'writes of one refund').toBeLessThanOrEqual(limits.refund.writes)
      expect(idle.reads, 'reads of an idle minute').toBeLessThanOrEqual(limits['idle minute'].reads)
      expect(idle.writes, 'writes of an idle minute').toBeLessThanOrEqual(limits['idle minute'].writes)
    } finally {
      await gateway.stop()
    }
  }, 240_000)
})
