import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import type { DueTimes } from '../../src/core/dueKinds.ts'
import { createDueWork } from '../../src/runtime/dueWork.ts'
import { newAttemptId } from '../../src/runtime/ids.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { addCustomerMessages } from '../../src/store/messages/messages.ts'
import { findSentMessages } from '../../src/store/messages/sending.ts'
import { findDueDeliveries } from '../../src/store/notifications/deliveries.ts'
import { addNotification } from '../../src/store/notifications/notifications.ts'
import { overdueElsewhere } from '../../src/store/payments/dueAttempts.ts'
import { storePayments } from '../../src/store/payments/payments.ts'
import { attemptsPostponed, deliveriesPostponed, refundsPostponed } from '../../src/store/postponed.ts'
import { overdueRefundsElsewhere } from '../../src/store/refunds/dueRefunds.ts'
import { insertRefunds } from '../../src/store/refunds/refunds.ts'
import { startDueChecks } from '../../src/workers/dueChecks.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import {
  canOrderWorkers,
  isSharded,
  orderWorker,
  titleOnSharded,
} from '../support/database/shardedDatabase.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { insertAttempt, newPayment } from '../support/payments/paymentDatabase.ts'
import { aRefund } from '../support/payments/refundRows.ts'
import { after, anAttempt, hours, noon } from '../support/payments/rows.ts'
import { simulatedAccount } from '../support/payments/simulatedNode.ts'

const shopsOfEach = 3 // worker
const customersOfEach = 2 // shop, each of whom pays again and again
const paidDuringLoss = 4 // payments of each customer of the other worker
const lossWithinMs = 60_000
const settledWithinMs = 60_000
const answeredWithinMs = 6000

async function isOnWorker1(db: Db, merchant_id: string): Promise<boolean> {
  const node = await db.one<{ nodename: string }>(sql`
    select nodename from pg_dist_node n join pg_dist_placement p on p.groupid = n.groupid
    where p.shardid = get_shard_id_for_distribution_column('payments', ${merchant_id}::text)`)
  return node?.nodename.includes('worker1') ?? false
}

// One worker of two is killed under load and comes back.
describe.skipIf(!isSharded || !canOrderWorkers)(titleOnSharded('the loss of a worker'), () => {
  let gateway: TestGateway
  let receiver: Receiver
  let shops: { merchant: TestMerchant; isLost: boolean }[]
  let customers = 0

  beforeAll(async () => {
    gateway = await testGateway(
      { TOLLGATE_EGRESS_LOOPBACK: 'on' },
      { sandboxPace: 0.2 },
      await migratedDatabase(),
    )
    receiver = await openReceiver()
    shops = []
    const count = (isLost: boolean) => shops.filter(shop => shop.isLost === isLost).length
    while (count(true) < shopsOfEach || count(false) < shopsOfEach) {
      const merchant = await gateway.addMerchant('rate_limit=0')
      const isLost = await isOnWorker1(gateway.db, merchant.merchant_id)
      if (count(isLost) < shopsOfEach) shops.push({ merchant, isLost })
    }
  }, 180_000)
  afterAll(async () => {
    await orderWorker('start', 'worker1')
    await receiver?.close()
    await gateway?.stop()
  }, 60_000)

  type Trouble = { isLost: boolean; what: string; http: number; ms: number }
  const troubles: Trouble[] = []

  // Repeats a request that is refused with 503.
  async function answered<Answer extends { http: number }>(
    isLost: boolean,
    what: string,
    request: () => Promise<Answer>,
  ): Promise<Answer> {
    for (;;) {
      const startedAt = performance.now()
      const answer = await request()
      const ms = Math.round(performance.now() - startedAt)
      if (answer.http < 400 && ms < answeredWithinMs) return answer
      troubles.push({ isLost, what, http: answer.http, ms })
      if (answer.http < 400) return answer
      await sleep(200)
    }
  }

  type Paid = { isLost: boolean; merchant: TestMerchant; invoice_id: string; tx_reference: string }

  async function pay({ merchant, isLost }: (typeof shops)[number]): Promise<Paid> {
    const number = `024${1_000_000 + ++customers * 1000}` // approves by itself
    const request = signedRequest(merchant.test, { number, ipn_url: `${receiver.url}/ipn` })
    const { body } = await answered(isLost, 'initiation', () => post(gateway.url, request))
    const { checkout_url, tx_reference } = body as { checkout_url: string; tx_reference: string }
    await answered(isLost, 'page', () => send(checkout_url))
    const form = { number: '1', payment_method: 'mtn_mobile_money', 'mtn_mobile_money.phone': number }
    await answered(isLost, 'payment', () =>
      send(`${checkout_url}/pay`, { method: 'POST', body: new URLSearchParams(form) }),
    )
    return { isLost, merchant, invoice_id: request.invoice_id, tx_reference }
  }

  const notified = async ({ tx_reference }: Paid) => {
    while (receiver.of(tx_reference).length === 0) await sleep(50)
  }

  test('stops its own merchants only, and all payments settle when it is back', async () => {
    const over = new AbortController()
    const paid: Paid[] = []
    const stepsMs: number[][] = [] // of the other worker's payments that began during the loss
    let isGone = false
    const customer = async (shop: (typeof shops)[number]) => {
      while (!over.signal.aborted) {
        const startedAt = performance.now()
        const begunDuringLoss = isGone
        const one = await pay(shop)
        paid.push(one)
        const ms = Math.round(performance.now() - startedAt)
        if (!shop.isLost) await notified(one)
        if (begunDuringLoss && !shop.isLost) stepsMs.push([ms, Math.round(performance.now() - startedAt)])
      }
    }
    const load = Promise.all(
      shops.flatMap(shop => Array.from({ length: customersOfEach }, () => customer(shop))),
    )
    await sleep(3000)
    isGone = true
    await orderWorker('kill', 'worker1')
    const wanted = shopsOfEach * customersOfEach * paidDuringLoss
    const until = performance.now() + lossWithinMs
    while (stepsMs.length < wanted && performance.now() < until) await sleep(100)
    const lossMs = Math.round(performance.now() - until + lossWithinMs)
    isGone = false
    await orderWorker('start', 'worker1')
    await sleep(3000)
    over.abort()
    await load
    console.log(summary(troubles), { paid: paid.length, lossMs, during: stepsMs.length })

    expect(troubles.filter(({ isLost }) => !isLost)).toEqual([])
    expect(troubles.filter(({ http, ms }) => http !== 503 || ms > answeredWithinMs)).toEqual([])
    expect(stepsMs.length).toBeGreaterThanOrEqual(wanted)

    const deadline = performance.now() + settledWithinMs
    let open = paid
    while (open.length > 0 && performance.now() < deadline) {
      const checked = await Promise.all(open.map(async one => ((await isSettled(one)) ? undefined : one)))
      open = checked.filter(one => one !== undefined)
      await sleep(200)
    }
    if (open.length > 0) console.log(await Promise.all(open.slice(0, 5).map(explain)))
    expect(open.map(({ tx_reference, isLost }) => ({ tx_reference, isLost }))).toEqual([])
  }, 240_000)

  async function isSettled(one: Paid): Promise<boolean> {
    if (receiver.of(one.tx_reference).length === 0) return false
    const question = signedQuestion(one.merchant.test, one.invoice_id)
    return (await checkStatus(gateway.url, question)).body.status === 'paid'
  }

  const explain = ({ merchant: { merchant_id }, tx_reference }: Paid) =>
    gateway.db.one(sql`
      select p.status, jsonb_agg(to_jsonb(a)) as attempts, (select jsonb_agg(to_jsonb(d)) from deliveries d
        where d.merchant_id = ${merchant_id} and d.tx_reference = ${tx_reference}) as deliveries
      from payments p left join attempts a on a.merchant_id = p.merchant_id and a.tx_reference = p.tx_reference
      where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference} group by p.status`)
})

function summary(troubles: readonly { isLost: boolean; what: string; http: number; ms: number }[]) {
  const counts: Record<string, number> = {}
  for (const { isLost, what, http } of troubles) {
    const name = `${isLost ? 'lost' : 'other'} ${what} ${http}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return { ...counts, slowest: Math.max(0, ...troubles.map(({ ms }) => ms)) }
}

// The searches of the background work, for a merchant on each worker, while one of them is gone.
describe.skipIf(!isSharded || !canOrderWorkers)(titleOnSharded('what workers search for'), () => {
  const dueAt = after(hours(1))
  const overdue = { since: dueAt, now: after(hours(2)), limit: 9 }
  const address = { url: 'https://shop.example/ipn', lane: 'lane', style: 'post' } as const
  const masterKeys = givenMasterKeys([randomBytes(32)])
  let database: FreshDatabase
  let db: Db
  let other: string // the merchant on the worker that is not killed

  beforeAll(async () => {
    database = await migratedDatabase()
    db = openDb(database.url, 8)
    await addPayment(true)
    other = await addPayment(false)
    await db.rows(sql`update messages set provider_ref = 'sent', sent_at = ${noon}`)
    await orderWorker('kill', 'worker1')
  }, 120_000)
  afterAll(async () => {
    await orderWorker('start', 'worker1')
    await db?.end()
    await database?.drop()
  }, 60_000)

  // With an attempt, a refund, a notification and a message, which are due at the same time.
  async function addPayment(isLost: boolean): Promise<string> {
    let merchant_id: string
    do merchant_id = (await onboard(db, masterKeys, 'Ama Shop', ['test'], noon)).merchant_id
    while ((await isOnWorker1(db, merchant_id)) !== isLost)
    const payment = newPayment(merchant_id, noon, hours(1))
    const { tx_reference } = payment
    const attempt_id = newAttemptId(merchant_id)
    const keys = { merchant_id, tx_reference, attempt_id }
    await storePayments(db, [payment])
    await insertAttempt(db, anAttempt({ ...keys, lang: 'en', next_poll_at: dueAt }))
    const refund = aRefund({ ...keys, refund_reference: `${attempt_id}-refund`, next_poll_at: dueAt })
    await db.rows(insertRefunds([refund]))
    const common = { merchant_id, tx_reference, mode: 'test', created_at: noon } as const
    await addNotification(db, { ...common, status: 'paid', body: '{}' }, address)
    await db.rows(sql`update deliveries set next_try_at = ${dueAt} where merchant_id = ${merchant_id}`)
    const message = {
      message_id: 'paid-sms',
      medium: 'sms',
      topic: 'paid',
      recipient: '+233240000000',
    } as const
    await addCustomerMessages(db, [{ ...common, ...message, next_try_at: dueAt }])
    return merchant_id
  }

  for (const [name, search] of [
    ['attempts of other accounts', () => overdueElsewhere(db, [], overdue)],
    ['refunds of other accounts', () => overdueRefundsElsewhere(db, [], overdue)],
    ['postponed attempts', () => attemptsPostponed(db, { unresolved: noon, ended: noon }, 9)],
    ['postponed refunds', () => refundsPostponed(db, { open: noon, failed: noon }, 9)],
    ['postponed deliveries', () => deliveriesPostponed(db, noon, 9)],
    ['due deliveries', () => findDueDeliveries(db, false, dueAt, 9)],
    ['messages with a receipt', () => findSentMessages(db, ['sent'], after(-1))],
  ] as [string, () => Promise<{ merchant_id: string }[]>][])
    test(`${name}: those of the other worker are found`, async () => {
      expect((await search()).map(({ merchant_id }) => merchant_id)).toEqual([other])
    })

  test('the due checks go on, in time, with what is due on the other worker', async () => {
    const checked: DueTimes[] = []
    const troubles: unknown[] = []
    const work = createDueWork({ clock: () => noon, receivesWakeUps: () => true, random: Math.random })
    const checks = startDueChecks({
      db,
      work: { ...work, checked: (_, times) => void checked.push(times), isBusy: () => true },
      receivesWakeUps: () => true,
      facts: () => ({ now: noon, opened: [simulatedAccount], expiredBefore: noon }),
      trouble: error => void troubles.push(error),
    })
    await expect.poll(() => checked.length).toBeGreaterThan(2)
    await checks.stop()
    expect(troubles).toEqual([])
    const at = dueAt.getTime()
    const due = { attempts: at, refunds: at, deliveries: at, sms: at, expiry: at }
    for (const times of checked) expect(times).toMatchObject(due)
  })
})
