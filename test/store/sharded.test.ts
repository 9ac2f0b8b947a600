import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import type { NotificationKey } from '../../src/core/notification/notification.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { newReference, newToken } from '../../src/runtime/ids.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, type Query, sql, type Tx } from '../../src/store/db.ts'
import { findSigners } from '../../src/store/merchants/signers.ts'
import { addCustomerMessages } from '../../src/store/messages/messages.ts'
import { saveMessageResults, takeDueMessages } from '../../src/store/messages/sending.ts'
import {
  type DeliveryOutcome,
  exhaustedOf,
  findDueDeliveries,
  saveAcknowledged,
  saveOutcomes,
  stillDue,
  takeAlone,
  takeAmongSiblings,
  takeUnlockedAlone,
} from '../../src/store/notifications/deliveries.ts'
import { addNotification } from '../../src/store/notifications/notifications.ts'
import { parkDeliveries } from '../../src/store/notifications/parkedDeliveries.ts'
import { beginAgain } from '../../src/store/notifications/redeliveries.ts'
import { addTries, moveLastTries } from '../../src/store/notifications/tries.ts'
import { attemptsOfMany } from '../../src/store/payments/attempts.ts'
import { promptAttempt } from '../../src/store/payments/callbacks.ts'
import { claimDueAttempts } from '../../src/store/payments/dueAttempts.ts'
import { findCheckouts, findPaymentsByKeys } from '../../src/store/payments/paymentLife.ts'
import { findPayments, findRequests, storePayments } from '../../src/store/payments/payments.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { isSharded, shardsOf, titleOnSharded } from '../support/database/shardedDatabase.ts'
import { insertAttempt } from '../support/payments/paymentDatabase.ts'
import { after, anAttempt, aPayment, hours } from '../support/payments/rows.ts'
import { simulatedAccount } from '../support/payments/simulatedNode.ts'

describe.skipIf(!isSharded)(titleOnSharded('statements'), () => {
  const now = new Date('2026-03-04T12:00:00Z')
  const lease = { token: 'mine', until: after(hours(1), now), now }
  const masterKeys = givenMasterKeys([randomBytes(32)])
  let database: FreshDatabase
  let db: Db
  let payments: Payment[] // one each of two merchants, which are of different shards
  let told: NotificationKey[]

  beforeAll(async () => {
    database = await migratedDatabase()
    db = openDb(database.url, 4)
    const ours = await addPayment('Ama Shop')
    let theirs = await addPayment('Kofi Shop')
    while ((await shardOf(theirs)) === (await shardOf(ours))) theirs = await addPayment('Kofi Shop')
    payments = [ours, theirs]
    await storePayments(db, payments)
    for (const [at, { merchant_id, tx_reference }] of payments.entries())
      await insertAttempt(
        db,
        anAttempt({
          merchant_id,
          tx_reference,
          attempt_id: `${merchant_id}${at}`,
          next_poll_at: now,
          lang: 'en',
        }),
      )
    told = await Promise.all(payments.map(tell))
  }, 120_000)
  afterAll(async () => {
    await db?.end()
    await database?.drop()
  }, 120_000)

  const shardOf = async ({ merchant_id }: Payment) =>
    (
      await db.one<{ shard: bigint }>(
        sql`select get_shard_id_for_distribution_column('payments', ${merchant_id}::text) as shard`,
      )
    )?.shard

  async function addPayment(name: string): Promise<Payment> {
    const { merchant_id } = await onboard(db, masterKeys, name, ['test'], now)
    const tx_reference = newReference(now)
    const dates = { created_at: now, updated_at: now, expires_at: after(hours(1), now) }
    const keys = { merchant_id, tx_reference, tx_token: newToken(merchant_id, now), invoice_id: tx_reference }
    return aPayment({ ...keys, ...dates })
  }

  async function tell({ merchant_id, tx_reference }: Payment): Promise<NotificationKey> {
    const added = await addNotification(
      db,
      { merchant_id, tx_reference, mode: 'test', status: 'paid', body: '{}', created_at: now },
      { url: 'https://shop.example/ipn', lane: `${merchant_id} https://shop.example`, style: 'post' },
    )
    return { merchant_id, tx_reference, sequence: added?.sequence as number }
  }

  // Runs it, whatever else that takes, and gives back to how many shards its statements went at most.
  async function mostShards(work: (db: Db) => Promise<unknown>): Promise<number> {
    const asked: Query[] = []
    const noting = <Base extends Tx>(base: Base): Base => ({
      ...base,
      rows: query => (asked.push(query), base.rows(query)),
      one: query => (asked.push(query), base.one(query)),
      count: query => (asked.push(query), base.count(query)),
      tuples: query => (asked.push(query), base.tuples(query)),
    })
    const own: Db = { ...noting(db), transaction: steps => db.transaction(tx => steps(noting(tx))) }
    await work(own)
    const counted = await Promise.all(
      asked
        .filter(({ text }) => !/^\s*set /.test(text))
        .map(({ text, values }) => shardsOf(database.url, text, values)),
    )
    return Math.max(...counted.map(count => count ?? 0))
  }

  const outcomeOf = (key: NotificationKey, changed: Partial<DeliveryOutcome> = {}): DeliveryOutcome => ({
    ...key,
    lease_token: lease.token,
    next_try_at: now,
    acknowledged_at: null,
    exhausted_at: null,
    try: 1,
    started_at: now,
    ms: 3,
    address: '192.0.2.1',
    status: 500,
    result: 'http_error' as DeliveryOutcome['result'],
    words: '',
    answer: null,
    ...changed,
  })

  // The statements about many keys, in the order of a life: of two merchants they go to two shards, of one to one.
  for (const [name, work] of [
    ['findRequests', (own, some) => findRequests(own, some)],
    ['findPayments', (own, some) => findPayments(own, some)],
    ['findPaymentsByKeys', (own, some) => findPaymentsByKeys(own, some)],
    ['attemptsOfMany', (own, some) => attemptsOfMany(own, some)],
    [
      'findSigners',
      (own, some) =>
        findSigners(
          own,
          masterKeys,
          some.map(p => p.merchant_id),
          now,
        ),
    ],
    ['stillDue', (own, some) => stillDue(own, keysOf(some), now)],
    ['takeAlone', (own, some) => takeAlone(own, keysOf(some), lease)],
    [
      'saveOutcomes',
      (own, some) =>
        saveOutcomes(
          own,
          keysOf(some).map(key => outcomeOf(key)),
        ),
    ],
    ['takeUnlockedAlone', (own, some) => takeUnlockedAlone(own, keysOf(some), lease)],
    [
      'moveLastTries',
      (own, some) =>
        moveLastTries(
          own,
          keysOf(some).map(key => ({ ...key, lease_token: 'mine' })),
        ),
    ],
    [
      'addTries',
      (own, some) =>
        addTries(
          own,
          keysOf(some).map(key => outcomeOf(key, { try: 7 })),
        ),
    ],
    [
      'exhaustedOf',
      (own, some) =>
        exhaustedOf(
          own,
          keysOf(some).map(key => outcomeOf(key)),
        ),
    ],
    [
      'saveAcknowledged',
      (own, some) =>
        saveAcknowledged(
          own,
          keysOf(some).map(key => outcomeOf(key, { acknowledged_at: now })),
        ),
    ],
  ] as [string, (own: Db, some: Payment[]) => Promise<unknown>][])
    test(`${name} asks the shards of its merchants alone`, async () => {
      expect(await mostShards(own => work(own, payments))).toBeLessThanOrEqual(2)
      expect(await mostShards(own => work(own, payments.slice(0, 1)))).toBeLessThanOrEqual(1)
    })

  const keysOf = (some: Payment[]) => told.filter(key => some.some(p => p.merchant_id === key.merchant_id))

  test('a checkout, a callback and a delivery that begins again ask one shard', async () => {
    const [{ merchant_id, tx_token }] = payments as [Payment]
    expect(await mostShards(own => findCheckouts(own, [{ merchant_id, tx_token }]))).toBe(1)
    const [checkout] = await findCheckouts(db, [{ merchant_id, tx_token }])
    expect(checkout?.attempts).toHaveLength(1)
    expect(
      await mostShards(own => promptAttempt(own, { merchant_id, attempt_id: `${merchant_id}0` }, now)),
    ).toBe(1)
    const again = { ...(told[0] as NotificationKey), mode: 'test' as const, created_at: now }
    const to = { url: 'https://new.example/ipn', lane: 'new', style: 'post' as const }
    const later = after(hours(2), now)
    expect(await mostShards(own => beginAgain(own, [{ ...again, ...to }], later))).toBe(1)
    const taking = { token: 'ours', until: after(60_000, later), now: later }
    expect(await mostShards(own => takeAmongSiblings(own, { ...again, lane: 'new' }, taking))).toBe(1)
  })

  test('what is due is found, taken and written down again', async () => {
    const later = after(hours(3), now)
    const rooms = [true, false].map(callback_received => ({
      ...simulatedAccount,
      callback_received,
      most: 9,
    }))
    const leased = { now: later, until: after(30_000, later) }
    expect(await claimDueAttempts(db, rooms, leased)).toHaveLength(2)
    expect(await claimDueAttempts(db, rooms, leased)).toHaveLength(0)
    const due = await findDueDeliveries(db, false, later, 10)
    expect(due).toHaveLength(1)
    expect(
      await parkDeliveries(
        db,
        due.map(one => ({ ...one, until: later })),
        later,
      ),
    ).toBe(1)

    await addCustomerMessages(
      db,
      payments.map(({ merchant_id, tx_reference }) => ({
        merchant_id,
        tx_reference,
        message_id: `${tx_reference}-paid-sms`,
        mode: 'test' as const,
        medium: 'sms' as const,
        topic: 'paid' as const,
        recipient: '+233240000000',
        created_at: now,
        next_try_at: now,
      })),
    )
    const taken = await takeDueMessages(db, 'sms', { ...lease, now: later, until: leased.until }, 10)
    expect(taken).toHaveLength(2)
    const results = taken.map(({ merchant_id, message_id }) => ({
      merchant_id,
      message_id,
      lease_token: lease.token,
      state: 'sent' as const,
      words: '',
      under_way: false,
      next_try_at: null,
      sent_at: later,
      provider_ref: 'x',
      ended_at: null,
      messenger: 'inbox',
      unanswered: 0,
    }))
    expect(await mostShards(own => saveMessageResults(own, results))).toBe(2)
    expect(await takeDueMessages(db, 'sms', { ...lease, now: later, until: leased.until }, 10)).toEqual([])
  })
})
