import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recentMessages } from '../../src/actions/messages/recentMessages.ts'
import {
  countDeliveries,
  newestNotifications,
  sentNotificationsOf,
} from '../../src/actions/notifications/findNotifications.ts'
import { explainPayment, findByReferenceOrInvoice } from '../../src/actions/payments/explainPayment.ts'
import { newestPayments } from '../../src/actions/payments/findPayments.ts'
import { outletReport } from '../../src/actions/payments/outletReport.ts'
import { createRedaction } from '../../src/actions/redaction/redact.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { countExhausted } from '../../src/store/notifications/notificationList.ts'
import type { PaymentKey } from '../../src/store/payments/paymentKeys.ts'
import { forgetOldTries } from '../../src/workers/deliveries/worker.ts'
import { forgetOldMessages } from '../../src/workers/messages/worker.ts'
import { migratedDatabase } from '../support/database/database.ts'
import { isSharded, titleOnSharded } from '../support/database/shardedDatabase.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { after, hours } from '../support/payments/rows.ts'

const shops = 4
const ofEach = 3

const submit = async (url: string, fields: Record<string, string>) => {
  const { http } = await send(url, { method: 'POST', body: new URLSearchParams(fields) })
  expect(http).toBe(303)
}

async function until(isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) await sleep(50)
}

// The program as it runs: its routes, its workers, and every statement that a payment takes. Payments of several merchants
// at once, so that those that come together are of different shards.
describe.skipIf(!isSharded)(titleOnSharded('whole payments'), () => {
  let gateway: TestGateway
  let receiver: Receiver
  let merchants: TestMerchant[]

  beforeAll(async () => {
    const database = await migratedDatabase()
    gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.2 }, database)
    receiver = await openReceiver()
    merchants = []
    for (let n = 0; n < shops; n++) merchants.push(await gateway.addMerchant('rate_limit=0'))
  }, 180_000)
  afterAll(async () => {
    await receiver?.close()
    await gateway?.stop()
  }, 60_000)

  let customers = 0

  async function initiate(merchant: TestMerchant) {
    const number = `024${1_000_000 + ++customers * 1000}` // the simulated provider approves it by itself
    const ipn_url = `${receiver.url}/ipn`
    const request = signedRequest(merchant.test, { number, email: 'ama@mail.example', ipn_url })
    const { http, text, body } = await post(gateway.url, request)
    expect(http, text).toBe(200)
    const page = await send(body.checkout_url)
    expect(page.http).toBe(200)
    return { ...body, merchant, number, invoice_id: request.invoice_id } as Begun
  }
  type Begun = {
    merchant: TestMerchant
    number: string
    invoice_id: string
    tx_reference: string
    checkout_url: string
  }

  const pay = ({ checkout_url, number }: Begun, attempt = 1) =>
    submit(`${checkout_url}/pay`, {
      number: String(attempt),
      payment_method: 'mtn_mobile_money',
      'mtn_mobile_money.phone': number,
    })

  const everywhere = <T>(live: (merchant: TestMerchant) => Promise<T>) =>
    Promise.all(merchants.flatMap(merchant => Array.from({ length: ofEach }, () => live(merchant))))

  const toldOf = ({ tx_reference }: Begun) => until(() => receiver.of(tx_reference).length > 0)

  async function statusOf({ merchant, invoice_id }: Begun): Promise<string> {
    const { body } = await checkStatus(gateway.url, signedQuestion(merchant.test, invoice_id))
    return body.status
  }

  const untilAllLeft = () =>
    until(async () => {
      const counted = await gateway.db.one<{ left: bigint }>(sql`
        select (select count(*) from deliveries where acknowledged_at is null) +
          (select count(*) from messages where next_try_at is not null) as left`)
      return counted?.left === 0n
    })

  // Told once, and written down; messages have left.
  async function mustBeOver(all: Begun[], status: string) {
    for (const one of all) expect(await statusOf(one)).toBe(status)
    await untilAllLeft()
    for (const { tx_reference } of all) expect(receiver.of(tx_reference)).toHaveLength(1)
  }

  test('customers pay, and their shops are told once', async () => {
    const all = await everywhere(async merchant => {
      const begun = await initiate(merchant)
      await pay(begun)
      await toldOf(begun)
      return begun
    })
    await mustBeOver(all, 'paid')
    const kept = await gateway.db.rows<{ kind: string; count: bigint }>(
      sql`select status as kind, count(*) as count from payments group by 1`,
    )
    expect(kept).toEqual([{ kind: 'paid', count: BigInt(all.length) }])
  })

  test('customers cancel, and their shops are told once', async () => {
    const all = await everywhere(async merchant => {
      const begun = await initiate(merchant)
      await submit(`${begun.checkout_url}/cancel`, {})
      await toldOf(begun)
      return begun
    })
    await mustBeOver(all, 'cancelled')
  })

  test('payments whose time is over end, and their shops are told once', async () => {
    const all = await everywhere(initiate)
    await gateway.db.rows(sql`update payments set expires_at = now() where status = 'awaiting_payment'`)
    await Promise.all(all.map(toldOf))
    await mustBeOver(all, 'failed')
  })

  test('a click twice begins one attempt, and a refusal may be tried again', async () => {
    const merchant = merchants[0] as TestMerchant
    const begun = await initiate(merchant)
    const refused = { ...begun, number: '0241000002' }
    await Promise.all([pay(refused), pay(refused)])
    await until(async () => (await statusOf(begun)) === 'failed')
    await pay(begun, 2)
    await until(async () => (await statusOf(begun)) === 'paid')
    const [{ attempts }] = (await gateway.db.rows<{ attempts: bigint }>(
      sql`select count(*) as attempts from attempts where merchant_id = ${merchant.merchant_id}
        and tx_reference = ${begun.tx_reference}`,
    )) as [{ attempts: bigint }]
    expect(attempts).toBe(2n)
  })

  test('what operators ask for is answered', async () => {
    const { db } = gateway
    const now = new Date()
    const { payments } = await newestPayments(db, { limit: 100 })
    expect(payments.length).toBeGreaterThan(3 * shops * ofEach)
    const [payment] = payments as [Payment]
    expect(await findByReferenceOrInvoice(db, payment.tx_reference)).toHaveLength(1)
    expect((await explainPayment(db, payment, now)).events.length).toBeGreaterThan(0)
    const { notifications } = await newestNotifications(db, { limit: 100 })
    expect(notifications.length).toBeGreaterThan(3 * shops * ofEach)
    expect(await sentNotificationsOf(db, notifications[0] as PaymentKey)).not.toHaveLength(0)
    const { merchant_id } = merchants[0] as TestMerchant
    const wish = {
      merchant_id,
      mode: 'test' as const,
      from: after(-hours(1), now),
      until: after(hours(1), now),
    }
    expect((await outletReport(db, wish)).rows.length).toBeGreaterThan(0)
    const asking = { db, baseUrl: () => gateway.url }
    expect((await recentMessages(asking)).messages.length).toBeGreaterThan(0)
    for (const state of ['due', 'acknowledged', 'exhausted', 'none'] as const)
      await newestNotifications(db, { state, limit: 10 })
    expect(await countExhausted(db, after(-hours(1), now), 10)).toBe(0)
    expect(await countDeliveries(db, now)).toMatchObject({ due: 0, parked: 0 })
  })

  test('what is old is forgotten', async () => {
    const { db } = gateway
    await db.rows(sql`update messages set next_try_at = now() where next_try_at is not null`) // some wait a minute
    await untilAllLeft()
    const later = after(hours(24 * 500), new Date())
    expect(await createRedaction(db, 1, { leftOut: fail, redacted: () => {} })(later)).toBeGreaterThan(0)
    expect(await forgetOldTries(db, later)).toBe(0) // gone with the payers
    await forgetOldMessages(db, later)
    expect(await db.rows(sql`select from payments where redacted_at is null or number is not null`)).toEqual(
      [],
    )
    expect(await db.rows(sql`select from messages`)).toEqual([])
  })

  test('nobody had trouble', () => {
    const troubles = gateway.logs.map(line => JSON.parse(line)).filter(({ level }) => level >= 40)
    expect(troubles).toEqual([])
  })
})

function fail(why: unknown): never {
  throw why instanceof Error ? why : new Error(JSON.stringify(why))
}
