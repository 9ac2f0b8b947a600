import { randomBytes } from 'node:crypto'
import { onboard } from '../../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../../src/actions/merchants/setMerchant.ts'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { pay } from '../../../src/actions/payments/pay.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, type Query, sql } from '../../../src/store/db.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { migratedDatabase, query } from '../database/database.ts'
import type { Credentials } from '../gateway/gateway.ts'
import { aPayRequest, recordingAccount, simulatedNode } from '../payments/simulatedNode.ts'
import { after, aPayment, hours, no, yes } from '../payments/rows.ts'
import { randomDigits } from '../random.ts'

export type DeliveryShop = { merchant_id: string; test: Credentials }
export type DeliveryDatabase = Awaited<ReturnType<typeof openDeliveryDatabase>>

const writers = 4 // that change payments at the same time
const clock = () => new Date()
const noWaitForDisk = `&options=${encodeURIComponent('-c synchronous_commit=off')}`

// Shops and their payments on a separate database. A change of status is committed together with its notification, as on
// any node, but without waiting for the disk, because no power is cut. The test starts the workers that deliver.
export async function openDeliveryDatabase() {
  const database = await migratedDatabase()
  const db = openDb(database.url + noWaitForDisk, writers, 'test')
  const key = randomBytes(32)
  const masterKeys = givenMasterKeys([key])
  const declines = simulatedNode(
    db,
    clock,
    recordingAccount(() => no),
  )
  const approves = simulatedNode(
    db,
    clock,
    recordingAccount(() => yes),
  )

  return {
    db,
    masterKeys,
    url: database.url,
    env: {
      DATABASE_URL: database.url,
      TOLLGATE_MASTER_KEY: key.toString('hex'),
      TOLLGATE_EGRESS_LOOPBACK: 'on',
      TOLLGATE_POOL_SIZE: '4',
      LOG_LEVEL: 'warn',
    },
    async addShops(urls: readonly string[]): Promise<DeliveryShop[]> {
      const shops: DeliveryShop[] = []
      for (const url of urls) {
        const shop = await onboard(db, masterKeys, 'Ama Shop', ['test'], clock())
        await setMerchant(db, shop.merchant_id, [`ipn_url=${url}/ipn`, 'rate_limit=0'])
        shops.push(shop as DeliveryShop)
      }
      return shops
    },
    // The same number for each shop.
    async addPayments(shops: readonly DeliveryShop[], each: number) {
      const payments = Array.from({ length: each }, () => shops.map(newPayment)).flat()
      for (let at = 0; at < payments.length; at += 500) await storePayments(db, payments.slice(at, at + 500))
      return payments
    },
    // Causes one notification.
    cancel: (payment: Payment) => cancel(declines, payment, clock()),
    // Causes three notifications: declined, tried again, paid.
    async payAtLast(payment: Payment) {
      await pay(declines, payment, { ...aPayRequest({ address: anAddress() }), input: { phone: aPhone() } })
      await pay(approves, payment, {
        ...aPayRequest({ number: 2, address: anAddress() }),
        input: { phone: aPhone() },
      })
    },
    // Changes several payments at once.
    async change(payments: readonly Payment[], how: (payment: Payment) => Promise<unknown>) {
      const left = payments.values()
      const writer = async () => {
        for (const payment of left) await how(payment)
      }
      await Promise.all(Array.from({ length: writers }, writer))
    },
    unfinished: () => countWhere(db, sql`next_try_at is not null`),
    // Due deliveries that are not leased, and whose predecessors are not leased.
    waiting: () =>
      countWhere(
        db,
        sql`next_try_at <= now() and not exists (select from deliveries o where o.merchant_id = d.merchant_id
          and o.tx_reference = d.tx_reference and o.lease_until > now())`,
      ),
    cutConnections: () =>
      query(
        database.url,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'tollgate' and datname = current_database()`,
      ),
    async close() {
      await db.end()
      await database.drop()
    },
  }
}

const countWhere = async (db: Db, which: Query) =>
  (await db.rows(sql`select from deliveries d where ${which}`)).length

function newPayment({ merchant_id }: DeliveryShop): Payment {
  const now = new Date()
  const tx_reference = newReference(now)
  return aPayment({
    merchant_id,
    tx_reference,
    tx_token: newToken(merchant_id, now),
    invoice_id: tx_reference,
    created_at: now,
    updated_at: now,
    expires_at: after(hours(1), now),
  })
}

const aPhone = () => `024${randomDigits(7)}`
const anAddress = () => `10.${Number(randomDigits(2))}.${Number(randomDigits(2))}.${Number(randomDigits(2))}`
