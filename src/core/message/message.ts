import type { Mode } from '../mode.ts'
import type { NewPayment, Status } from '../payment/payment.ts'
import type { Medium } from './messenger.ts'

// An SMS or an email to a person: one row of `messages`.
export type Message = {
  merchant_id: string
  message_id: string
  mode: Mode
  medium: Medium
  topic: Topic
  recipient: string
  lang: string
  tx_reference: string | null
  created_at: Date
  tries: number
  unanswered: number // how often it has left since something was written down of what came of it
  next_try_at: Date | null // null: it has ended
  lease_token: string | null
  state: 'queued' | 'sent' | 'delivered' | 'dropped'
  words: string // why it was dropped, or has to be tried again
  messenger: string | null
  provider_ref: string | null
  sent_at: Date | null // also while it is under way: what may arrive counts
  ended_at: Date | null
}
export const inboxName = 'inbox' // where messages stay that no messenger carries

export type MessageKey = Pick<Message, 'merchant_id' | 'message_id'>

// A customer hears how a payment ended; a merchant's contact, that notifications do not arrive.
export type Topic = CustomerTopic | 'exhausted'
export type CustomerTopic = Extract<Status, 'paid' | 'failed' | 'cancelled'>

const secondThoughtMs = 60_000
const gatherMs = 5 * 60_000

// How long a message waits before it is sent. Whoever fails or cancels often tries again at once: a customer who has
// paid within the minute hears of that alone. The notice of a dead address waits until its crowd is there.
export const firstWaitMs: Readonly<Record<Topic, number>> = {
  paid: 0,
  failed: secondThoughtMs,
  cancelled: secondThoughtMs,
  exhausted: gatherMs,
}

// What makes it one message per status and medium, however often the status comes. A receipt that a person sends again
// has a number of its own.
export const customerMessageId = (tx_reference: string, topic: CustomerTopic, medium: Medium, number = 1) =>
  `${tx_reference}-${topic}-${medium}${number === 1 ? '' : `-${number}`}`

export const mostReceipts = 10 // of one payment by one medium, the first among them

export const receiptIds = (tx_reference: string, medium: Medium) =>
  Array.from({ length: mostReceipts }, (_, at) => customerMessageId(tx_reference, 'paid', medium, at + 1))

const media: readonly Medium[] = ['sms', 'email']

// Everything that a customer may have been sent about one payment.
export const customerMessageIds = (tx_reference: string) =>
  media.flatMap(medium => [
    ...receiptIds(tx_reference, medium),
    customerMessageId(tx_reference, 'failed', medium),
    customerMessageId(tx_reference, 'cancelled', medium),
  ])

// One a day: a dead address is one piece of news.
export const exhaustedMessageId = (mode: Mode, now: Date) =>
  `exhausted-${mode}-${now.toISOString().slice(0, 10)}`

// Where a customer can be told.
export function addressesOf({ number, email }: Pick<NewPayment, 'number' | 'email'>) {
  const all: { medium: Medium; recipient: string }[] = []
  if (number) all.push({ medium: 'sms', recipient: number })
  if (email) all.push({ medium: 'email', recipient: email })
  return all
}
