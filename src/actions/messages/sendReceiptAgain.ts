import { mailboxOf } from '../../core/message/mailbox.ts'
import { customerMessageId, customerMessageIds, type Message } from '../../core/message/message.ts'
import { capWindowMs, type MessageRules, takePlace, whyNot } from '../../core/message/messageRules.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { nextReceipt, recipientOf, whyNotAgain } from '../../core/message/receiptAgain.ts'
import { event } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db, Tx } from '../../store/db.ts'
import { countMessages } from '../../store/messages/messageCounts.ts'
import { messagesByIds } from '../../store/messages/messageList.ts'
import { addCustomerMessages } from '../../store/messages/messages.ts'
import { addEvents, eventsOf } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'

// What a customer was sent about a payment, oldest first.
export const messagesOf = (db: Tx, { merchant_id, tx_reference }: PaymentKey): Promise<Message[]> =>
  messagesByIds(db, merchant_id, customerMessageIds(tx_reference))

// `number` is that of the receipt which the person saw to be next; without it, whichever is.
export type Again = { medium: Medium; number?: number }
export type SentAgain =
  | { done: 'queued'; recipient: string; number: number }
  | { done: 'already' } // the same press came before
  | { done: 'refused'; words: string }
  | { done: 'no_payment' }

// A person sends the receipt of a paid payment again, to the address that came with the request. It is one message more
// under the caps, and an event of the payment; the senders find it due. Again with the same number changes nothing.
export const sendReceiptAgain = (
  db: Db,
  key: PaymentKey,
  { medium, number }: Again,
  rules: MessageRules,
  now: Date,
): Promise<SentAgain> =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return { done: 'no_payment' }
    const { merchant_id, tx_reference, mode } = payment
    const sent = await messagesOf(tx, payment)
    const next = nextReceipt(payment, medium, sent)
    const recipient = recipientOf(payment, medium) ?? ''
    if (await wasResent(tx, payment, medium, now)) return { done: 'queued', recipient, number: next - 1 }
    if (number !== undefined && number < next) return { done: 'already' }
    const words = whyNotAgain(payment, medium, sent) ?? (await overCaps(tx, payment, medium, rules, now))
    if (words !== undefined) return { done: 'refused', words }
    const message_id = customerMessageId(tx_reference, 'paid', medium, next)
    const news = { topic: 'paid', medium, recipient, created_at: now, next_try_at: now } as const
    await addCustomerMessages(tx, [{ merchant_id, tx_reference, mode, message_id, ...news }])
    await addEvents(tx, payment, [event('receipt_resent', 'operator', null, medium, now)])
    return { done: 'queued', recipient, number: next }
  })

// A commit that was lost, run again.
const wasResent = async (tx: Tx, { merchant_id, tx_reference }: PaymentKey, medium: Medium, now: Date) =>
  (await eventsOf(tx, merchant_id, tx_reference)).some(
    ({ kind, reason, at }) =>
      kind === 'receipt_resent' && reason === medium && at.getTime() === now.getTime(),
  )

// The senders hold the caps when it leaves; here the person who asks hears of it at once.
async function overCaps(tx: Tx, payment: Payment, medium: Medium, rules: MessageRules, now: Date) {
  const { merchant_id, status } = payment
  const recipient = recipientOf(payment, medium) ?? ''
  const message = { merchant_id, recipient, medium, topic: 'paid', created_at: now, unanswered: 0 } as const
  const since = new Date(now.getTime() - capWindowMs)
  const counts = await countMessages(tx, [mailboxOf(recipient)], [merchant_id], since)
  return whyNot(message, status, rules, now) ?? takePlace(counts, message, rules)
}
