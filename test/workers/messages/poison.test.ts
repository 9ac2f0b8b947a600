import type { SendResult } from '../../../src/core/message/messenger.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/core/message/message.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { createReceipts } from '../../../src/workers/messages/receipts.ts'
import { query } from '../../support/database/database.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, minutes, noon } from '../../support/payments/rows.ts'
import { addMany, allMessages, later, fakeMessenger, testSender } from '../../support/messages/sender.ts'

// A messenger whose texts the database refuses, and a database that refuses everything.
let lives: PaymentDatabase
let db: Db
let payment: Payment
let now = noon
let troubles: unknown[]

beforeAll(async () => {
  lives = await openPaymentDatabase()
  db = lives.db
  const [asked] = await lives.addPayments(1, noon)
  await db.rows(sql`update payments set status = 'paid'`)
  payment = { ...(asked as Payment), status: 'paid' }
})
afterAll(() => lives.close())
beforeEach(async () => {
  now = noon
  troubles = []
  await db.rows(sql`delete from messages`)
  await addMany(db, payment, ['+233241234567'], now)
})

const onTrouble = (error: unknown) => void troubles.push(error)
const one = async () => (await allMessages(db))[0] as Message

// For more than an hour, one lease after the other.
async function sendForLong(answer: () => SendResult) {
  const sms = fakeMessenger('sms', answer)
  const post = testSender(db, () => now, [sms], { onTrouble })
  for (let at = 0; at < 15; at++) {
    await post.sendAll()
    now = after(minutes(5), now)
  }
  return sms.sent.length
}

for (const [name, sent] of [
  ['an id with a NUL', { state: 'sent', provider_ref: 'A\u0000' }],
  ['an id of 100 KB', { state: 'sent', provider_ref: 'A'.repeat(100_000) }],
  ['an id of half a character', { state: 'sent', provider_ref: '\ud800' }],
  ['an id that is a number', { state: 'sent', provider_ref: 7 }],
  ['an id that is an object', { state: 'sent', provider_ref: {} }],
  ['a rejection with a NUL', { state: 'rejected', reason: 'No\u0000 such number.' }],
  ['a rejection without a reason', { state: 'rejected' }],
] as const)
  test(`${name}: one SMS`, async () => {
    expect(await sendForLong(() => sent as never)).toBe(1)
    expect(troubles).toEqual([])
    expect((await one()).state).toBe(sent.state === 'sent' ? 'sent' : 'dropped')
  })

test('a receipt with a strange id finds its message', async () => {
  await addMany(db, payment, ['+233241234568'], now)
  const ids = ['A\u0000', `A${'x'.repeat(500)}`]
  await sendForLong(() => ({ state: 'sent', provider_ref: ids.shift() ?? '' }))
  const receipts = createReceipts({ db, clock: () => now, onTrouble, pauses: [] })
  receipts.receive({ provider_ref: 'A', state: 'lost', reason: '' })
  receipts.receive({ provider_ref: 'A\u0000', state: 'delivered', reason: '\u0000' })
  receipts.receive({ provider_ref: `A${'x'.repeat(500)}`, state: 'lost', reason: 'Lost\u0000 it.' })
  receipts.receive({ provider_ref: 7, state: 'what', reason: null } as never)
  receipts.receive(undefined as never)
  await receipts.settled()
  const words = (await allMessages(db)).map(message => `${message.state} ${message.words}`)
  expect(words.toSorted()).toEqual(['delivered ', 'sent Lost: Lost it.'])
  expect(troubles).toEqual([])
})

describe('invalid results', () => {
  for (const [name, answer] of [
    ['nothing', undefined],
    ['an unknown state', { state: 'gone' }],
    ['a pause that is not a number', { state: 'retry', reason: 'Wait.', afterMs: Number.NaN }],
    ['an infinite pause', { state: 'retry', reason: 'Wait.', afterMs: Number.POSITIVE_INFINITY }],
    ['a reason that is a number', { state: 'retry', reason: 7 }],
  ] as const)
    test(`${name}: retried, and saved`, async () => {
      await sendForLong(() => answer as never)
      expect(troubles).toEqual([])
      expect((await one()).tries).toBeGreaterThan(1)
    })
})

async function refuseResults<T>(condition: string, work: () => Promise<T>) {
  await query(
    lives.url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
     create trigger refuse before update on messages for each row when (${condition}) execute function refuse()`,
  )
  try {
    return await work()
  } finally {
    await db.rows(sql`drop function refuse cascade`)
  }
}

test('a message whose result can never be saved is sent three times, then dropped', async () => {
  const departures = await refuseResults("new.state = 'sent'", () => sendForLong(() => ({ state: 'sent' })))
  expect(departures).toBe(3)
  expect(await one()).toMatchObject({ state: 'dropped', words: expect.stringContaining('three times') })
  expect(troubles).toHaveLength(3)
})

test('a result that the database refuses is saved without its texts', async () => {
  const departures = await refuseResults("new.provider_ref = 'A'", () =>
    sendForLong(() => ({ state: 'sent', provider_ref: 'A' })),
  )
  expect(departures).toBe(1)
  expect(await one()).toMatchObject({ state: 'sent', provider_ref: null })
})

test('a message that the network refuses repeatedly is retried by the schedule', async () => {
  expect(await sendForLong(() => later)).toBeGreaterThan(5)
  expect((await one()).state).toBe('queued')
})
