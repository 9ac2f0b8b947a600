import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Inbox } from '../../src/runtime/localWorkers.ts'
import { sql } from '../../src/store/db.ts'
import type { CustomerMessage } from '../../src/store/messages/messages.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode } from '../support/payments/simulatedNode.ts'
import { no, noon, yes } from '../support/payments/rows.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

// An SMS to a number that no messenger would reach is for those who send, and who say why they do not.
const keeps = ({ medium, next_try_at, created_at }: CustomerMessage) =>
  medium === 'email' && next_try_at !== null && next_try_at <= created_at

async function payWith(reply: typeof yes | typeof no, inbox?: Inbox) {
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  const contact = sql`update payments set number = '+233240000001', email = 'ama@example.com'
    where tx_reference = ${payment.tx_reference}`
  await lives.db.rows(contact)
  const node = simulatedNode(lives.db, () => noon, {
    start: () => Promise.resolve(reply),
    check: () => Promise.resolve(reply),
  })
  node.localWorkers.inbox = inbox
  await pay(node, payment, aPayRequest())
  return lives.db.rows(sql`
    select medium, state, messenger, tries, next_try_at is null as ended, sent_at, ended_at from messages
    where tx_reference = ${payment.tx_reference} order by medium`)
}

const kept = { state: 'sent', messenger: 'inbox', tries: 1, ended: true, sent_at: noon, ended_at: noon }
const queued = { state: 'queued', messenger: null, tries: 0, ended: false, sent_at: null, ended_at: null }

test('what no messenger carries is in the inbox with the change itself; the rest is for those who send', async () => {
  const told: CustomerMessage[] = []
  const inbox: Inbox = { keeps, written: messages => void told.push(...messages) }
  expect(await payWith(yes, inbox)).toEqual([
    { medium: 'email', ...kept },
    { medium: 'sms', ...queued },
  ])
  expect(told.map(({ medium, topic }) => [medium, topic])).toEqual([
    ['sms', 'paid'],
    ['email', 'paid'],
  ])
})

test('news that may be overtaken by better news waits, as it does for a messenger', async () => {
  expect(await payWith(no, { keeps, written() {} })).toEqual([
    { medium: 'email', ...queued },
    { medium: 'sms', ...queued },
  ])
})

test('where nobody keeps them here, all are for those who send', async () => {
  expect(await payWith(yes)).toEqual([
    { medium: 'email', ...queued },
    { medium: 'sms', ...queued },
  ])
})
