import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { NewPayment, Payment, Status } from '../payment/payment.ts'
import type { Medium } from './messenger.ts'

// An SMS or an email: one row of `messages`.
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
  unanswered: number // sends since a result was last saved
  next_try_at: Date | null // null: it has ended
  lease_token: string | null
  state: 'queued' | 'sent' | 'delivered' | 'dropped'
  words: string // why it was dropped or is retried
  messenger: string | null
  provider_ref: string | null
  sent_at: Date | null // also while it is being sent: it may arrive, so it counts
  ended_at: Date | null
}
export const inboxName = 'inbox' // the messenger of messages that stay in the inbox

// The state that people see. A message that is being sent is still queued, and one without a messenger stays in the inbox.
export type ShownState = 'queued' | 'going' | 'kept' | 'sent' | 'delivered' | 'dropped'

export function shownState({
  state,
  messenger,
  sent_at,
}: Pick<Message, 'state' | 'messenger' | 'sent_at'>): ShownState {
  if (state === 'queued') return sent_at ? 'going' : 'queued'
  return state === 'sent' && messenger === inboxName ? 'kept' : state
}

export type MessageKey = Pick<Message, 'merchant_id' | 'message_id'>

// A customer gets the outcome of a payment, and each refund that succeeded. A merchant's contact gets a notice of exhausted notifications.
type Topic = CustomerTopic | 'exhausted'
export type CustomerTopic = Extract<Status, 'paid' | 'failed' | 'cancelled'> | 'refunded'

const retryWindowMs = 60_000
const collectMs = 5 * 60_000

// How long a message waits before it is sent. A customer whose payment fails or is cancelled often tries again at once;
// if the payment is paid within the minute, only that is sent. The notice to a merchant waits to collect more
// notifications of the same address.
export const firstWaitMs: Readonly<Record<Topic, number>> = {
  paid: 0,
  failed: retryWindowMs,
  cancelled: retryWindowMs,
  refunded: 0,
  exhausted: collectMs,
}

// One message per status and medium, however often the payment reaches it. A receipt that is sent again has its own number.
export const customerMessageId = (
  tx_reference: string,
  topic: Exclude<CustomerTopic, 'refunded'>,
  medium: Medium,
  number = 1,
) => `${tx_reference}-${topic}-${medium}${number === 1 ? '' : `-${number}`}`

// One message per refund and medium.
export const refundMessageId = (refund_reference: string, medium: Medium) =>
  `${refund_reference}-refunded-${medium}`

export const refundOfMessage = ({ message_id }: Pick<Message, 'message_id'>) =>
  message_id.replace(/-refunded-\w+$/, '')

const maxReceipts = 10 // of one payment by one medium, including the first

const receiptIds = (tx_reference: string, medium: Medium) =>
  Array.from({ length: maxReceipts }, (_, at) => customerMessageId(tx_reference, 'paid', medium, at + 1))

const media: readonly Medium[] = ['sms', 'email']

// The ids of all messages that a customer can get about one payment and its refunds.
export const customerMessageIds = (tx_reference: string, refund_references: readonly string[]) =>
  media.flatMap(medium => [
    ...refund_references.map(reference => refundMessageId(reference, medium)),
    ...receiptIds(tx_reference, medium),
    customerMessageId(tx_reference, 'failed', medium),
    customerMessageId(tx_reference, 'cancelled', medium),
  ])

// One notice a day, however many notifications are exhausted.
export const exhaustedMessageId = (mode: Mode, now: Date) =>
  `exhausted-${mode}-${now.toISOString().slice(0, 10)}`

export function addressesOf({ number, email }: Pick<NewPayment, 'number' | 'email'>) {
  const all: { medium: Medium; recipient: string }[] = []
  if (number) all.push({ medium: 'sms', recipient: number })
  if (email) all.push({ medium: 'email', recipient: email })
  return all
}

type SentMessage = Pick<Message, 'message_id' | 'next_try_at'>
type ReceiptPayment = Pick<Payment, 'tx_reference' | 'status' | 'number' | 'email' | 'redacted_at'>

export const recipientOf = (payment: Pick<NewPayment, 'number' | 'email'>, medium: Medium) =>
  addressesOf(payment).find(address => address.medium === medium)?.recipient

// The number of the next receipt. A form contains it, so that a double click sends one message.
export function nextReceipt(
  { tx_reference }: Pick<Payment, 'tx_reference'>,
  medium: Medium,
  sent: readonly SentMessage[],
) {
  const ids = new Set(sent.map(({ message_id }) => message_id))
  return receiptIds(tx_reference, medium).findLastIndex(id => ids.has(id)) + 2
}

const addressNames: Record<Medium, string> = { sms: 'phone number', email: 'email address' }

// Why an operator cannot send the receipt again, as a sentence for the operator. The caps are not checked here. `sent`
// contains all messages to the customer about this payment.
export function whyNotAgain(
  payment: ReceiptPayment,
  medium: Medium,
  sent: readonly SentMessage[],
): string | undefined {
  if (payment.status !== 'paid') return 'There is no receipt: the payment is not paid.'
  if (payment.redacted_at) return "The customer's details were removed, so no message can be sent."
  if (!recipientOf(payment, medium)) return `The request had no ${addressNames[medium]}.`
  const ids = new Set(receiptIds(payment.tx_reference, medium))
  if (sent.some(({ message_id, next_try_at }) => ids.has(message_id) && next_try_at !== null))
    return 'One is still being sent: wait for its result first.'
  if (nextReceipt(payment, medium, sent) > maxReceipts)
    return `It was sent ${maxReceipts} times, which is the most.`
  return undefined
}

// The content of the texts to a customer.
export type MessageFacts = {
  topic: CustomerTopic
  mode: Mode
  merchant_name: string
  amount: bigint // minor units
  currency: Currency
  tx_reference: string
  invoice_id: string
  description: string | null
  status_reason: string
  payment_method: string | null
  payment_time: Date | null
  link: string
  refunded_at?: Date // of a refund, which has its own amount
  returned?: readonly Returned[] // what the receipt lists as refunded
}

// A refund that succeeded, as the customer sees it.
export type Returned = { amount: bigint; at: Date }

// The receipt, which stays, or the payment page, which shows what the customer can do.
export const messageLink = (topic: CustomerTopic, baseUrl: string, tx_token: string) =>
  `${baseUrl}/checkout/${tx_token}${topic === 'paid' || topic === 'refunded' ? '/receipt' : ''}`
