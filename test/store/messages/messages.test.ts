import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/core/message/message.ts'
import { dropped, applyResult } from '../../../src/core/message/messageTries.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { messageStats } from '../../../src/store/messages/messageList.ts'
import { deleteOldMessages } from '../../../src/store/messages/messages.ts'
import { countMessages, saveMessageResults, takeDueMessages } from '../../../src/store/messages/sending.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { addMany, allMessages } from '../../support/messages/sender.ts'

let lives: PaymentDatabase
let db: Db
let payment: Payment

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
  payment = (await lives.addPayments(1, noon))[0] as Payment
})
afterAll(() => lives.close())
beforeEach(() => db.rows(sql`delete from messages`))

const leaseAt = (now: Date, token: string) => ({ token, until: after(minutes(5), now), now })
const take = (token: string, now = noon, limit = 10) => takeDueMessages(db, 'sms', leaseAt(now, token), limit)
const resultOf = (message: Message, lease_token: string) => ({
  merchant_id: message.merchant_id,
  message_id: message.message_id,
  lease_token,
  ...applyResult(message, { state: 'sent', provider_ref: 'R-1' }, noon, 0),
  messenger: 'played',
  unanswered: 0,
  under_way: false,
})
const one = async () => (await allMessages(db))[0] as Message

describe('due messages', () => {
  for (const [why, recipient, now, found] of [
    ['not yet', '+233241234567', after(-1), 0],
    ['of the other medium', 'ama@shop.example', noon, 0],
    ['now', '+233241234567', noon, 1],
  ] as const)
    test(why, async () => {
      await addMany(db, payment, [recipient], noon)
      expect(await take('a', now)).toHaveLength(found)
    })

  test('the oldest first, up to the limit', async () => {
    for (const minute of [3, 1, 2])
      await addMany(db, payment, [`+23324000000${minute}`], after(minutes(minute)))
    const taken = await take('a', after(hours(1)), 2)
    expect(taken.map(({ recipient }) => recipient).toSorted()).toEqual(['+233240000001', '+233240000002'])
  })
})

describe('a lease', () => {
  test('excludes other workers until it ends', async () => {
    await addMany(db, payment, ['+233241234567'], noon)
    expect(await take('a')).toHaveLength(1)
    expect(await take('b', after(minutes(5) - 1))).toHaveLength(0)
    expect(await take('b', after(minutes(5)))).toMatchObject([{ tries: 2, lease_token: 'b' }])
  })

  test('that another worker has taken makes a result invalid', async () => {
    await addMany(db, payment, ['+233241234567'], noon)
    const [message] = await take('a')
    await take('b', after(minutes(5)))
    expect(await saveMessageResults(db, [resultOf(message as Message, 'a')])).toEqual([])
    expect(await one()).toMatchObject({ state: 'queued', lease_token: 'b' })
    expect(await saveMessageResults(db, [resultOf(message as Message, 'b')])).toHaveLength(1)
    expect(await one()).toMatchObject({
      state: 'sent',
      lease_token: null,
      next_try_at: null,
      provider_ref: 'R-1',
    })
  })

  test('counts a result once', async () => {
    await addMany(db, payment, ['+233241234567'], noon)
    const [message] = await take('a')
    const result = resultOf(message as Message, 'a')
    expect(await saveMessageResults(db, [result])).toHaveLength(1)
    expect(await saveMessageResults(db, [{ ...result, ...dropped('', noon) }])).toEqual([])
    expect(await one()).toMatchObject({ state: 'sent' })
  })

  test('stays with messages that are being sent', async () => {
    await addMany(db, payment, ['+233241234567'], noon)
    const [message] = await take('a')
    const leaving = {
      state: 'queued',
      next_try_at: after(minutes(5)),
      under_way: true,
      ended_at: null,
    } as const
    await saveMessageResults(db, [{ ...resultOf(message as Message, 'a'), ...leaving }])
    expect(await one()).toMatchObject({ state: 'queued', lease_token: 'a', sent_at: noon })
  })
})

test('concurrent takes never return the same message', async () => {
  await addMany(
    db,
    payment,
    Array.from({ length: 400 }, (_, at) => `+233240000${at + 100}`),
    noon,
  )
  const takers = Array.from({ length: 4 }, async (_, taker) => {
    const mine: string[] = []
    for (;;) {
      const taken = await take(`${taker}`, after(seconds(1)), 7)
      const left = await db.one(sql`select 1 from messages where next_try_at <= ${after(seconds(1))} limit 1`)
      if (taken.length === 0 && !left) return mine
      mine.push(...taken.map(({ message_id }) => message_id))
    }
  })
  const all = (await Promise.all(takers)).flat()
  expect(all).toHaveLength(400)
  expect(new Set(all).size).toBe(400)
})

test('messages that were sent within the window count, messages in the inbox do not', async () => {
  const { merchant_id } = payment
  await addMany(
    db,
    payment,
    Array.from({ length: 4 }, () => '+233241234567'),
    noon,
  )
  await addMany(db, payment, ['+233241234568'], noon)
  const taken = (await take('a')).toSorted((a, b) => a.recipient.localeCompare(b.recipient))
  const moments = [after(-hours(24)), after(1 - hours(24)), noon, noon, noon]
  const results = taken.map((message, at) => ({
    ...resultOf(message, 'a'),
    sent_at: moments[at] as Date,
    messenger: at === 3 ? 'inbox' : 'played',
  }))
  await saveMessageResults(db, results)
  const { recipients, merchants } = await countMessages(
    db,
    ['+233241234567', '+233241234569'],
    [merchant_id],
    after(-hours(24)),
  )
  expect([...recipients]).toEqual([['+233241234567', 2]])
  expect([...merchants]).toEqual([[merchant_id, 3]])
})

test('ended messages are deleted; queued ones are not', async () => {
  await addMany(db, payment, ['+233241234567', '+233241234568'], noon)
  const [message] = await take('a', noon, 1)
  await saveMessageResults(db, [resultOf(message as Message, 'a')])
  expect(await deleteOldMessages(db, noon, 10)).toBe(0)
  expect(await deleteOldMessages(db, after(1), 10)).toBe(1)
  expect(await allMessages(db)).toMatchObject([{ state: 'queued' }])
})

test('the length of the queue and its oldest message', async () => {
  expect(await messageStats(db, noon)).toEqual({ queued: 0, oldest_due_at: null })
  await addMany(db, payment, ['+233241234567', 'ama@shop.example'], noon)
  expect(await messageStats(db, after(-1))).toEqual({ queued: 2, oldest_due_at: null })
  expect(await messageStats(db, after(5))).toEqual({ queued: 2, oldest_due_at: noon })
})
