import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueExhaustedNotice } from '../../../src/actions/messages/queueMessages.ts'
import type { Medium } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { openMessengers } from '../../../src/runtime/messengers.ts'
import { warnWithoutMessenger } from '../../../src/start/messages.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import { openMailServer } from '../../messengers/mailServer.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, noon, yes } from '../../support/payments/rows.ts'
import { allMessages, messagesOf, fakeMessenger, testSender } from '../../support/messages/sender.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let db: Db
let merchant: TestMerchant
let now = noon

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  db = shop.db
})
afterAll(() => shop.stop())
const clock = () => now

const exhaust = (payment: Payment, at: Date) =>
  db.rows(sql`
    update deliveries set exhausted_at = ${at}, next_try_at = null, last_result = 'timeout'
    where tx_reference = ${payment.tx_reference}`)

const having = (...media: Medium[]) => ({ configured: (medium: Medium) => media.includes(medium) })

test('test mode alone causes no warning; live mode causes one about the missing messengers', async () => {
  expect(await warnWithoutMessenger(db, having())).toEqual([])
  merchant = await shop.addMerchant(
    'Ama Shop',
    'ipn_url=https://shop.example/ipn?secret=1',
    'contact_email=dev@shop.example',
  )
  expect(await warnWithoutMessenger(db, having())).toHaveLength(2)
  expect(await warnWithoutMessenger(db, having('sms'))).toEqual([
    'Customers get no email: no messenger is set up for it. What they would get is at /inbox.',
  ])
  expect(await warnWithoutMessenger(db, having('sms', 'email'))).toEqual([])
})

test('exhausted notifications cause one mail a day about all of them', async () => {
  const email = fakeMessenger('email')
  const post = testSender(db, clock, [email])
  const queue = (at: Date, mode: 'test' | 'live' = 'live') =>
    db.transaction(tx => queueExhaustedNotice(tx, merchant.merchant_id, mode, 'dev@shop.example', at))
  const payments = [await shop.ask(merchant), await shop.ask(merchant), await shop.ask(merchant, {}, 'test')]
  for (const [at, payment] of payments.entries()) {
    await shop.try(payment, yes)
    await exhaust(payment, after(minutes(at)))
    await queue(after(minutes(at)), payment.mode)
  }
  now = after(minutes(5) - 1)
  expect(await post.sendAll()).toBe(0)
  now = after(minutes(8))
  await post.sendAll()
  expect(email.sent.map(({ id, to }) => `${id} ${to}`).toSorted()).toEqual([
    `${merchant.merchant_id}-exhausted-live-2026-03-02 dev@shop.example`,
    `${merchant.merchant_id}-exhausted-test-2026-03-02 dev@shop.example`,
  ])
  const live = email.sent.find(({ id }) => id.includes('live'))
  expect(live?.subject).toBe('2 notifications to Ama Shop could not be delivered')
  expect(live?.text).toContain(
    `${payments[0]?.tx_reference}-N1: https://shop.example/ipn did not answer in time`,
  )
  expect(live?.text).not.toContain('secret=1')
  await queue(after(hours(1)))
  now = after(hours(2))
  expect(await post.sendAll()).toBe(0)
})

test('if all were redelivered meanwhile, no mail is sent', async () => {
  await db.rows(sql`delete from messages`)
  await db.rows(sql`update deliveries set exhausted_at = null`)
  const email = fakeMessenger('email')
  await db.transaction(tx => queueExhaustedNotice(tx, merchant.merchant_id, 'live', 'dev@shop.example', now))
  now = after(minutes(5), now)
  await testSender(db, clock, [email]).sendAll()
  expect(email.sent).toEqual([])
  expect(await allMessages(db)).toMatchObject([
    { state: 'dropped', words: 'The payment or the exhausted notifications do not exist any more.' },
  ])
})

test('a receipt is sent through a real mail server', async () => {
  const server = await openMailServer()
  const tools = { receive: () => {}, warn: () => {} }
  const messengers = await openMessengers(
    { SMTP_URL: server.url, SMTP_FROM: 'Tollgate <pay@tollgate.example>' },
    tools,
  )
  const payment = await shop.ask(merchant, { email: 'ama@shop.example', description: 'Bread' }, 'test')
  await shop.try(payment, yes, { lang: 'fr' })
  await testSender(db, clock, [], { messengers }).sendAll()
  expect(server.taken).toHaveLength(1)
  expect(server.taken[0]).toMatchObject({
    to: ['ama@shop.example'],
    mail: { subject: expect.stringMatching(/^TEST /) },
  })
  expect(server.taken[0]?.mail.text).toContain(`https://pay.example/checkout/${payment.tx_token}`)
  expect(await messagesOf(db, payment)).toMatchObject([{ state: 'sent', messenger: 'smtp', lang: 'fr' }])
  await messengers.close()
  await server.stop()
})
