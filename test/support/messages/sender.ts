import type { Message } from '../../../src/core/message/message.ts'
import type { Medium, Messenger, OutboundMessage, SendResult } from '../../../src/core/message/messenger.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { messengersOf } from '../../../src/runtime/messengers.ts'
import { type Db, sql } from '../../../src/store/db.ts'
import {
  createSender,
  type ObservedMessage,
  type SenderOptions,
} from '../../../src/workers/messages/sender.ts'
import { afterFile } from '../vitest/afterFile.ts'

export const yes: SendResult = { state: 'sent' }
export const later: SendResult = { state: 'retry', reason: 'The network is busy.' }
export const never: SendResult = { state: 'rejected', reason: 'No such number.' }

type Answer = (message: OutboundMessage) => SendResult | Promise<SendResult>
export type FakeMessenger = Messenger & { sent: OutboundMessage[] }

// A messenger that accepts every message, unless the test gives another answer.
export function fakeMessenger(medium: Medium, answer: Answer = () => yes): FakeMessenger {
  const sent: OutboundMessage[] = []
  return {
    medium,
    sent,
    async send(message) {
      sent.push(message)
      return answer(message)
    },
    close: async () => {},
  }
}

// The sender of one process, with defaults for what a test does not set.
export function testSender(
  db: Db,
  clock: () => Date,
  messengers: readonly Messenger[],
  more: Partial<SenderOptions> = {},
) {
  const seen: ObservedMessage[] = []
  let isOver = false
  afterFile(() => void (isOver = true)) // a sender that a test abandoned may end minutes later, without a database
  const sender = createSender({
    db,
    clock,
    random: () => 0,
    rules: { smsPrefixes: ['+233'], perRecipient: 1000, perMerchant: 100_000 },
    baseUrl: () => 'https://pay.example',
    messengers: messengersOf(messengers.map(messenger => ({ name: `fake_${messenger.medium}`, messenger }))),
    observe: message => void seen.push(message),
    onTrouble: error => {
      if (!isOver) throw error
    },
    wake: () => {},
    ...more,
  })
  // Sends everything that is due now.
  async function sendAll() {
    let found = 0
    for (;;) {
      const now = (await sender.step('sms')) + (await sender.step('email'))
      await sender.finished()
      if (now === 0) return found
      found += now
    }
  }
  return { ...sender, seen, sendAll }
}

export const messagesOf = (db: Db, { merchant_id, tx_reference }: Payment) =>
  db.rows<Message>(sql`
    select * from messages where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by created_at, medium desc, topic`)

export const allMessages = (db: Db) => db.rows<Message>(sql`select * from messages order by message_id`)

// Many messages about one payment, each to another recipient.
export const addMany = (db: Db, p: Payment, recipients: readonly string[], now: Date) =>
  db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, created_at,
      next_try_at)
    select ${p.merchant_id}, 'many-' || gen_random_uuid(), ${p.mode}, case when r like '+%' then 'sms' else 'email' end,
      ${p.status}, r, 'en', ${p.tx_reference}, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${recipients}::text[]) as r`)
