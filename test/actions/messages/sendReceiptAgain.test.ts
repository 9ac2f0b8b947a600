import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendReceiptAgain } from '../../../src/actions/messages/receipts.ts'
import { explainPayment } from '../../../src/actions/payments/explainPayment.ts'
import type { Medium } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, pending, yes } from '../../support/payments/rows.ts'
import { messagesOf, fakeMessenger, testSender } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { roomyRules } from '../../support/gateway/supportSite.ts'

let shop: TestShop
let merchant: TestMerchant
let now: Date
let count = 0
beforeAll(async () => {
  shop = await openShop()
})
beforeEach(async () => {
  now = new Date()
  shop.setNow(now)
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

const newNumber = () => `+23324${String(++count).padStart(7, '0')}`

// A paid payment whose receipt was sent.
async function paid(fields: Record<string, unknown> = {}): Promise<Payment> {
  const to = { number: newNumber(), email: `esi${count}@mail.example` }
  const payment = await shop.try(await shop.ask(merchant, { ...to, ...fields }), yes)
  await postman().sendAll()
  return payment
}
const postman = () =>
  testSender(shop.db, () => now, [fakeMessenger('sms'), fakeMessenger('email')], { rules: roomyRules })

const again = (payment: Payment, medium: Medium = 'sms', number?: number, rules = roomyRules, at = now) =>
  sendReceiptAgain(shop.db, payment, { medium, number }, rules, at)
const resent = async ({ merchant_id, tx_reference }: Payment) =>
  (await eventsOf(shop.db, merchant_id, tx_reference)).filter(({ kind }) => kind === 'receipt_resent')

async function isRefused(payment: Payment, medium: Medium, reason: RegExp, rules = roomyRules) {
  const before = await messagesOf(shop.db, payment)
  expect(await again(payment, medium, undefined, rules)).toEqual({
    done: 'refused',
    reason: expect.stringMatching(reason),
  })
  expect(await messagesOf(shop.db, payment)).toEqual(before)
  expect(await resent(payment)).toEqual([])
}

test('an unknown payment has no receipt', async () => {
  const payment = { ...(await paid()), tx_reference: 'TG-NONE' }
  expect(await again(payment)).toEqual({ done: 'no_payment' })
})

test('a payment that is not paid has no receipt', async () => {
  const payment = await shop.try(await shop.ask(merchant, { number: newNumber() }), pending)
  await isRefused(payment, 'sms', /not paid/)
})

test('no receipt is sent without an address in the request', async () => {
  const payment = await paid({ email: undefined })
  await isRefused(payment, 'email', /The request had no email address/)
})

test("no receipt is sent after the customer's details were removed", async () => {
  const payment = await paid()
  await shop.db.rows(sql`
    update payments set redacted_at = now(), number = null, email = null where tx_reference = ${payment.tx_reference}`)
  await isRefused(payment, 'sms', /were removed/)
})

test('no receipt is added while one is being sent', async () => {
  const payment = await shop.try(await shop.ask(merchant, { number: newNumber() }), yes)
  await isRefused(payment, 'sms', /still being sent/)
})

for (const [cap, rules, reason] of [
  ['recipient', { ...roomyRules, perRecipient: 1 }, /The recipient has had all the messages of 24 hours: 1/],
  ['merchant', { ...roomyRules, perMerchant: 2 }, /The merchant has sent all the messages of 24 hours: 2/],
  ['prefix', { ...roomyRules, smsPrefixes: ['+234'] }, /none of the allowed prefixes/],
] as const)
  test(`the cap of the ${cap} refuses, with its reason`, async () =>
    isRefused(await paid(), 'sms', reason, rules))

test('ten receipts are the most', async () => {
  const payment = await paid()
  const rules = { ...roomyRules, perRecipient: 1000 }
  for (let number = 2; number <= 10; number++) {
    now = after(minutes(1), now)
    expect(await again(payment, 'sms', number, rules)).toMatchObject({ done: 'queued', number })
    await testSender(shop.db, () => now, [fakeMessenger('sms')], { rules }).sendAll()
  }
  const reason = 'It was sent 10 times, which is the most.'
  now = after(minutes(1), now)
  expect(await again(payment, 'sms', 11, rules)).toEqual({ done: 'refused', reason })
})

test('a receipt is sent again, counts under the caps, and is in the timeline', async () => {
  const payment = await paid()
  now = after(minutes(5), now)
  expect(await again(payment, 'email', 2)).toEqual({
    done: 'queued',
    recipient: payment.email,
    number: 2,
  })
  const mails = fakeMessenger('email')
  const sender = testSender(shop.db, () => now, [fakeMessenger('sms'), mails], {
    rules: { ...roomyRules, perRecipient: 2 },
  })
  await sender.sendAll()
  expect(mails.sent).toMatchObject([{ to: payment.email, subject: expect.stringContaining('Paid') }])
  const sent = (await messagesOf(shop.db, payment)).map(({ message_id, state }) => [message_id, state])
  expect(sent).toContainEqual([`${payment.tx_reference}-paid-email-2`, 'sent'])
  const sentAt = now
  now = after(minutes(5), now)
  expect(await again(payment, 'email', 3, { ...roomyRules, perRecipient: 2 })).toMatchObject({
    done: 'refused',
    reason: expect.stringMatching(/recipient has had all/),
  })
  expect(await resent(payment)).toMatchObject([{ cause: 'operator', reason: 'email', at: sentAt }])
  const { moments } = await explainPayment(shop.db, payment, now)
  expect(moments.at(-1)).toMatchObject({ who: 'operator', words: 'Sent the receipt again by email' })
})

test('the same form twice, in sequence or at once, is one message', async () => {
  const payment = await paid()
  expect(await again(payment, 'sms', 2)).toMatchObject({ done: 'queued' })
  expect(await again(payment, 'sms', 2, roomyRules, after(hours(1), now))).toEqual({ done: 'already' })
  const came = await Promise.all(
    Array.from({ length: 5 }, (_, at) => again(payment, 'email', 2, roomyRules, after(at, now))),
  )
  expect(came.map(({ done }) => done).sort()).toEqual(['already', 'already', 'already', 'already', 'queued'])
  expect(await messagesOf(shop.db, payment)).toHaveLength(4)
  expect(await resent(payment)).toHaveLength(2)
})

test('a transaction that runs again after a lost commit finds its message', async () => {
  const payment = await paid()
  const losing = Object.create(shop.db, {
    transaction: {
      value: async (work: Parameters<Db['transaction']>[0]) => {
        await shop.db.transaction(work)
        return shop.db.transaction(work)
      },
    },
  }) as Db
  expect(await sendReceiptAgain(losing, payment, { medium: 'sms', number: 2 }, roomyRules, now)).toEqual({
    done: 'queued',
    recipient: payment.number,
    number: 2,
  })
  expect(await resent(payment)).toHaveLength(1)
})
