import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import type { MessageRules } from '../../../src/core/message/messageRules.ts'
import type { SendResult } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import {
  addMany,
  allMessages,
  fakeMessenger,
  later,
  messagesOf,
  testSender,
  yes,
} from '../../support/messages/sender.ts'
import {
  after,
  hours,
  minutes,
  no,
  noon,
  pending,
  seconds,
  yes as paid,
} from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

const reachable = { number: '0241234567', email: 'ama@shop.example' }

let shop: TestShop
let db: Db
let merchant: TestMerchant
let now = noon

beforeAll(async () => {
  shop = await openShop()
  db = shop.db
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())
beforeEach(async () => {
  await db.rows(sql`delete from messages`)
  setNow(noon)
})

function setNow(at: Date) {
  now = at
  shop.setNow(at)
}
const clock = () => now
const openSender = (answer?: () => SendResult | Promise<SendResult>, rules: Partial<MessageRules> = {}) => {
  const sms = fakeMessenger('sms', answer)
  const email = fakeMessenger('email', answer)
  const base = { smsPrefixes: ['+233'], perRecipient: 1000, perMerchant: 100_000 }
  return { sms, email, ...testSender(db, clock, [sms, email], { rules: { ...base, ...rules } }) }
}
const askAndPay = async (fields: Record<string, unknown> = reachable, mode: 'test' | 'live' = 'live') => {
  const payment = await shop.ask(merchant, fields, mode)
  return shop.try(payment, paid)
}
const endings = async (payment: Payment) =>
  (await messagesOf(db, payment)).map(({ topic, medium, state, words }) =>
    [topic, medium, state, words].join(' ').trim(),
  )

describe('not sent', () => {
  test('a failure, if the customer has paid within the minute', async () => {
    const sender = openSender()
    const payment = await shop.ask(merchant, reachable)
    await shop.try(payment, no)
    setNow(after(seconds(45)))
    expect(await sender.sendAll()).toBe(0)
    await shop.try(payment, paid)
    setNow(after(minutes(2)))
    await sender.sendAll()
    expect(sender.sms.sent).toHaveLength(1)
    expect(sender.email.sent).toHaveLength(1)
    expect(await endings(payment)).toEqual([
      'failed sms dropped The payment is paid by now.',
      'failed email dropped The payment is paid by now.',
      'paid sms sent',
      'paid email sent',
    ])
  })

  test('a failure while the customer tries again; if that fails too, one message is sent', async () => {
    const sender = openSender()
    const payment = await shop.ask(merchant, { number: '0241234567' })
    await shop.try(payment, no)
    setNow(after(seconds(30)))
    await shop.try(payment, pending)
    setNow(after(seconds(70)))
    await sender.sendAll()
    expect(await endings(payment)).toEqual(['failed sms dropped The payment is awaiting_payment by now.'])
    await shop.hear(payment, no)
    setNow(after(seconds(131)))
    await sender.sendAll()
    expect(await endings(payment)).toEqual(['failed sms sent'])
    await shop.try(payment, no)
    setNow(after(minutes(9)))
    await sender.sendAll()
    expect(sender.sms.sent).toHaveLength(1)
  })

  test('a failure that was cancelled within the minute', async () => {
    const sender = openSender()
    const payment = await shop.ask(merchant, { email: 'ama@shop.example' })
    await shop.try(payment, no)
    setNow(after(seconds(10)))
    await cancel(shop.runtime, payment, now)
    setNow(after(minutes(2)))
    await sender.sendAll()
    expect(await endings(payment)).toEqual([
      'failed email dropped The payment is cancelled by now.',
      'cancelled email sent',
    ])
  })

  for (const [why, fields, rules, words] of [
    [
      'to a number abroad',
      { number: '+447400123456' },
      {},
      'The number begins with none of the allowed prefixes.',
    ],
    [
      'with a recipient cap of 0',
      reachable,
      { perRecipient: 0 },
      'The recipient has had all the messages of 24 hours: 0.',
    ],
    [
      'with a merchant cap of 0',
      reachable,
      { perMerchant: 0 },
      'The merchant has sent all the messages of 24 hours: 0.',
    ],
  ] as const)
    test(why, async () => {
      const sender = openSender(undefined, rules)
      const payment = await askAndPay(fields)
      await sender.sendAll()
      expect([...sender.sms.sent, ...sender.email.sent]).toEqual([])
      expect(new Set((await messagesOf(db, payment)).map(message => message.words))).toEqual(new Set([words]))
      expect(new Set(sender.seen.map(({ outcome }) => outcome))).toEqual(new Set(['dropped']))
      expect(JSON.stringify(sender.seen)).not.toMatch(/ama@|1234567|400123456/)
    })

  test('a day late', async () => {
    const sender = openSender()
    const payment = await askAndPay()
    setNow(after(hours(24)))
    await sender.sendAll()
    expect(sender.sms.sent).toEqual([])
    expect((await messagesOf(db, payment))[0]).toMatchObject({
      state: 'dropped',
      words: 'Could not be sent in 24 hours.',
    })
  })

  test('a message that the network rejects', async () => {
    const sender = openSender(() => ({
      state: 'rejected',
      reason: 'No such reader: ama@shop.example +233241234567.',
    }))
    const payment = await askAndPay()
    await sender.sendAll()
    setNow(after(hours(3)))
    expect(await sender.sendAll()).toBe(0)
    expect(await endings(payment)).toEqual([
      'paid sms dropped No such reader: ama@shop.example +....',
      'paid email dropped No such reader: ... +233241234567.',
    ])
  })
})

describe('sent', () => {
  test('both have the outcome, the link and a unique id', async () => {
    const sender = openSender(() => ({ state: 'sent', provider_ref: 'R-1' }))
    const payment = await askAndPay()
    await sender.sendAll()
    const [sms] = sender.sms.sent
    expect(sms).toMatchObject({
      to: '+233241234567',
      id: `${merchant.merchant_id}-${payment.tx_reference}-paid-sms`,
    })
    expect(sms?.text).toContain('25.00')
    expect(sms?.text).not.toMatch(/^TEST/)
    const [mail] = sender.email.sent
    expect(mail).toMatchObject({
      to: 'ama@shop.example',
      id: `${merchant.merchant_id}-${payment.tx_reference}-paid-email`,
    })
    expect(mail?.text).toContain(`https://pay.example/checkout/${payment.tx_token}`)
    expect((await messagesOf(db, payment))[0]).toMatchObject({
      state: 'sent',
      messenger: 'fake_sms',
      provider_ref: 'R-1',
      sent_at: noon,
      ended_at: noon,
      next_try_at: null,
      lease_token: null,
      tries: 1,
    })
  })

  test('in the language of the page', async () => {
    const sender = openSender()
    const payment = await shop.ask(merchant, reachable)
    await shop.try(payment, paid, { lang: 'fr' })
    await sender.sendAll()
    expect(sender.email.sent[0]?.html).toContain('lang="fr"')
  })

  test('messages of test payments are marked as such, and count', async () => {
    const sender = openSender(undefined, { perRecipient: 1 })
    await askAndPay({ number: '0241234567' }, 'test')
    await askAndPay({ number: '0241234567' }, 'test')
    await sender.sendAll()
    expect(sender.sms.sent.map(({ text }) => text.slice(0, 5))).toEqual(['TEST '])
  })

  test('without a messenger the message stays in the inbox, and counts under no cap', async () => {
    const sender = testSender(db, clock, [], {
      rules: { smsPrefixes: ['+233'], perRecipient: 1, perMerchant: 1 },
    })
    const payments = [await askAndPay(), await askAndPay()]
    await sender.sendAll()
    for (const payment of payments)
      for (const message of await messagesOf(db, payment))
        expect(message).toMatchObject({ state: 'sent', messenger: 'inbox', sent_at: noon, next_try_at: null })
    expect(sender.seen.map(({ outcome }) => outcome)).toEqual(['kept', 'kept', 'kept', 'kept'])
    const real = openSender(undefined, { perRecipient: 1, perMerchant: 1 })
    await askAndPay({ number: '0241234567' })
    await real.sendAll()
    expect(real.sms.sent).toHaveLength(1)
  })
})

describe('the caps', () => {
  test('hold within a batch and over batches, and let through again after a day', async () => {
    const sender = openSender(undefined, { perRecipient: 3 })
    const payment = await askAndPay({})
    for (let day = 0; day < 3; day++) {
      setNow(after(day * hours(24)))
      await addMany(
        db,
        payment,
        Array.from({ length: 25 }, () => '+233241234567'),
        now,
      )
      await sender.sendAll()
      expect(sender.sms.sent).toHaveLength(3 * (day + 1))
    }
  })

  test('count a mailbox and a phone once, however they are spelled, and send to the address of the request', async () => {
    const sender = openSender(undefined, { perRecipient: 2 })
    const emails = ['Kofi.Mensah+hats@GMail.com', 'kofimensah@googlemail.com', 'k.ofimensah+7@gmail.com']
    const numbers = ['0241234567', '+233 24 123 4567', '233241234567']
    for (const [at, email] of emails.entries()) await askAndPay({ email, number: numbers[at] })
    await sender.sendAll() // in one batch
    await askAndPay({ email: 'KOFIMENSAH@gmail.com', number: '024-123-4567' })
    await sender.sendAll() // and in a later one
    expect(sender.email.sent).toHaveLength(2)
    for (const { to } of sender.email.sent) expect(emails).toContain(to)
    expect(sender.sms.sent).toHaveLength(2)
  })

  test('count messages of an earlier version by their recipient', async () => {
    const sender = openSender(undefined, { perRecipient: 1 })
    const payment = await askAndPay({})
    await addMany(db, payment, ['ama@shop.example'], now)
    await sender.sendAll()
    await askAndPay({ email: 'ama@shop.example' })
    await sender.sendAll()
    expect(sender.email.sent).toHaveLength(1)
  })

  test('count both media of a merchant', async () => {
    const sender = openSender(undefined, { perMerchant: 4 })
    const payment = await askAndPay({})
    await addMany(
      db,
      payment,
      ['+233241111111', '+233242222222', '+233243333333', 'a@b.example', 'c@d.example'],
      now,
    )
    await sender.sendAll()
    expect(sender.sms.sent.length + sender.email.sent.length).toBe(4)
  })

  test('a rejected message does not count', async () => {
    let answer = later
    const sender = openSender(() => answer, { perRecipient: 1 })
    const payment = await askAndPay({})
    await addMany(db, payment, ['+233241234567'], now)
    await sender.sendAll()
    answer = yes
    await addMany(db, payment, ['+233241234567'], now)
    await sender.sendAll()
    expect(sender.sms.sent).toHaveLength(2)
    setNow(after(minutes(1)))
    await sender.sendAll()
    expect(sender.sms.sent).toHaveLength(2)
    expect((await allMessages(db)).map(({ state }) => state).toSorted()).toEqual(['dropped', 'sent'])
  })
})
