import {
  type CustomerTopic,
  type Message,
  type MessageFacts,
  messageLink,
  refundOfMessage,
} from '../../core/message/message.ts'
import type { OutboundMessage } from '../../core/message/messenger.ts'
import { type ExhaustedFacts, exhaustedMail } from '../../core/message/texts/exhausted.ts'
import { customerMail } from '../../core/message/texts/mail.ts'
import { smsText } from '../../core/message/texts/sms.ts'
import type { Mode } from '../../core/mode.ts'
import { notificationId } from '../../core/notification/notification.ts'
import type { NewPayment, Payment } from '../../core/payment/payment.ts'
import { returnedOf } from '../../core/refund/returned.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { countMerchantExhausted, listExhausted } from '../../store/notifications/notificationList.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { findRefundByReference, refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'

export type ComposeTools = { db: Db; clock(): Date; baseUrl(): string }

// The text of a message, from the current state of its payment; undefined if the payment or the exhausted notifications
// do not exist any more. The id is the same in every try and unique among merchants.
export async function compose(
  { db, clock, baseUrl }: ComposeTools,
  message: Message,
  payment: PaymentWithMerchant | undefined,
): Promise<OutboundMessage | undefined> {
  const { merchant_id, message_id, topic, recipient } = message
  const address = { id: `${merchant_id}-${message_id}`, to: recipient }
  if (topic !== 'exhausted') {
    const facts = payment && (await customerFacts(db, { ...message, topic }, payment, baseUrl()))
    return facts && { ...address, ...customerText(message, facts) }
  }
  const facts = await exhaustedFacts(db, message, clock(), baseUrl())
  return facts && { ...address, ...exhaustedMail(facts) }
}

const customerText = ({ medium, lang }: Message, facts: MessageFacts) =>
  medium === 'sms' ? { text: smsText(facts, lang), subject: '', html: '' } : customerMail(facts, lang)

type FactsSource = Omit<MessageFacts, 'topic' | 'amount' | 'link' | 'refunded_at' | 'returned'> &
  Pick<NewPayment, 'merchant_id' | 'total' | 'tx_token'> &
  Pick<Payment, 'refunded_amount'>

type CustomerMessageOf = Pick<Message, 'merchant_id' | 'message_id'> & { topic: CustomerTopic }

// The facts of a message to a customer, with the refunds that it lists. Undefined if the refund of the message does not
// exist any more.
export async function customerFacts(
  tx: Tx,
  { merchant_id, message_id, topic }: CustomerMessageOf,
  payment: FactsSource,
  baseUrl: string,
): Promise<MessageFacts | undefined> {
  const facts = messageFacts(payment, topic, baseUrl)
  if (topic === 'refunded') {
    const refund_reference = refundOfMessage({ message_id })
    const refund = await findRefundByReference(tx, { merchant_id, refund_reference })
    if (!refund?.succeeded_at) return undefined
    return { ...facts, amount: refund.amount, refunded_at: refund.succeeded_at }
  }
  if (topic !== 'paid' || payment.refunded_amount === null) return facts
  return { ...facts, returned: returnedOf(await refundsOfPayment(tx, payment)) }
}

const messageFacts = (payment: FactsSource, topic: CustomerTopic, baseUrl: string): MessageFacts => ({
  ...payment,
  topic,
  amount: payment.total,
  link: messageLink(topic, baseUrl, payment.tx_token),
})

const windowMs = 24 * 3_600_000
const maxExamples = 5

// The exhausted notifications of the last day; undefined if there are none any more.
export async function exhaustedFacts(
  tx: Tx,
  { merchant_id, mode }: { merchant_id: string; mode: Mode },
  now: Date,
  baseUrl: string,
): Promise<ExhaustedFacts | undefined> {
  const from = new Date(now.getTime() - windowMs)
  const { count, since } = await countMerchantExhausted(tx, merchant_id, mode, from)
  const merchant = await findMerchant(tx, merchant_id)
  if (!since || !merchant) return undefined
  const examples = await listExhausted(tx, merchant_id, mode, from, maxExamples)
  return {
    merchant_name: mode === 'test' ? `${merchant.name} (test)` : merchant.name,
    count,
    since,
    examples: examples.map(({ url, last_result, words, ...key }) => ({
      id: notificationId(key),
      url: withoutQuery(url),
      last_result: last_result ?? '',
      error: words ?? '',
    })),
    link: `${baseUrl}/docs`,
  }
}

// The query may contain a secret of the merchant.
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')
