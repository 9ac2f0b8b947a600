import { exhaustedFacts } from '../../actions/messages/exhaustedFacts.ts'
import { type MessageFacts, messageLink } from '../../core/message/messageFacts.ts'
import type { CustomerTopic, Message } from '../../core/message/message.ts'
import type { OutboundMessage } from '../../core/message/messenger.ts'
import { exhaustedMail } from '../../core/message/texts/exhausted.ts'
import { mail } from '../../core/message/texts/mail.ts'
import { smsText } from '../../core/message/texts/sms.ts'
import type { Db } from '../../store/db.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'

export type ComposeTools = { db: Db; clock(): Date; baseUrl(): string }
type Written = Pick<OutboundMessage, 'text' | 'subject' | 'html'>

// The text of a message, from how things stand now; undefined when there is nothing to say any more. The id is the same
// on every try, and no other merchant's.
export async function compose(
  { db, clock, baseUrl }: ComposeTools,
  message: Message,
  payment: PaymentWithMerchant | undefined,
): Promise<OutboundMessage | undefined> {
  const { merchant_id, message_id, topic, recipient } = message
  const to = { id: `${merchant_id}-${message_id}`, to: recipient }
  if (topic !== 'exhausted')
    return payment && { ...to, ...customerText(message, factsOf(payment, topic, baseUrl())) }
  const facts = await exhaustedFacts(db, message, clock(), baseUrl())
  return facts && { ...to, ...exhaustedMail(facts) }
}

function customerText({ medium, lang }: Message, facts: MessageFacts): Written {
  return medium === 'sms' ? { text: smsText(facts, lang), subject: '', html: '' } : mail(facts, lang)
}

const factsOf = (payment: PaymentWithMerchant, topic: CustomerTopic, baseUrl: string): MessageFacts => ({
  topic,
  mode: payment.mode,
  merchant_name: payment.merchant_name,
  amount: payment.total,
  currency: payment.currency,
  tx_reference: payment.tx_reference,
  invoice_id: payment.invoice_id,
  description: payment.description,
  status_reason: payment.status_reason,
  payment_method: payment.payment_method,
  payment_time: payment.payment_time,
  link: messageLink(topic, baseUrl, payment.tx_token),
})
