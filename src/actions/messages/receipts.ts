import { Unavailable } from '../../core/interface/refusal.ts'
import { maskMailbox, maskPhone } from '../../core/mask.ts'
import {
  customerMessageId,
  customerMessageIds,
  type Message,
  nextReceipt,
  recipientOf,
  whyNotAgain,
} from '../../core/message/message.ts'
import {
  capWindowMs,
  countUnderCaps,
  mailboxOf,
  type MessageRules,
  whyDropped,
} from '../../core/message/messageRules.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { event } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findSendable, messagesByIds } from '../../store/messages/messageList.ts'
import { addCustomerMessages } from '../../store/messages/messages.ts'
import { countMessages } from '../../store/messages/sending.ts'
import { addEvents, eventsOf } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'

export type CanSend = (medium: Medium, recipient: string) => boolean

type ReceiptTo = Pick<Payment, 'merchant_id' | 'tx_reference' | 'number' | 'email'>

// The masked addresses that the receipt of a paid payment is or was sent to, without dropped messages and the inbox.
export async function receiptTo(db: Db, payment: ReceiptTo, canSend: CanSend): Promise<string[]> {
  const { merchant_id, tx_reference, number, email } = payment
  if (!number && !email) return []
  const ids = (['sms', 'email'] as const).map(medium => customerMessageId(tx_reference, 'paid', medium))
  try {
    const messages = await findSendable(db.withQuota('checkout'), merchant_id, ids)
    return messages
      .filter(({ medium, recipient }) => canSend(medium, recipient))
      .map(({ medium, recipient }) => (medium === 'sms' ? maskPhone(recipient) : maskMailbox(recipient)))
  } catch (error) {
    if (error instanceof Unavailable) return [] // the page shows the result without the addresses
    throw error
  }
}

// All messages to the customer about a payment, oldest first.
export async function customerMessagesOf(
  db: Tx,
  { merchant_id, tx_reference, refunded_amount }: PaymentKey & Pick<Payment, 'refunded_amount'>,
): Promise<Message[]> {
  const refunds = refunded_amount === null ? [] : await refundsOfPayment(db, { merchant_id, tx_reference })
  const references = refunds.map(({ refund_reference }) => refund_reference)
  return messagesByIds(db, merchant_id, customerMessageIds(tx_reference, references))
}

// `number` is that of the next receipt when the operator's form was rendered; without it, the next one is sent.
type ResendRequest = { medium: Medium; number?: number }
export type ResendResult =
  | { done: 'queued'; recipient: string; number: number }
  | { done: 'already' } // the form was sent before
  | { done: 'refused'; reason: string }
  | { done: 'no_payment' }

// Queues the receipt of a paid payment again, to the address of the request. It counts under the caps and is
// an event of the payment. A second call with the same number changes nothing.
export const sendReceiptAgain = (
  db: Db,
  key: PaymentKey,
  { medium, number }: ResendRequest,
  rules: MessageRules,
  now: Date,
): Promise<ResendResult> => {
  let runs = 0 // after a lost commit the work runs again, and finds its own event; another form may have the same millisecond
  return db.transaction(async tx => {
    const isRerun = ++runs > 1
    const payment = await lockPayment(tx, key)
    if (!payment) return { done: 'no_payment' }
    const { merchant_id, tx_reference, mode } = payment
    const sent = await customerMessagesOf(tx, payment)
    const next = nextReceipt(payment, medium, sent)
    const recipient = recipientOf(payment, medium) ?? ''
    if (isRerun && (await wasResent(tx, payment, medium, now)))
      return { done: 'queued', recipient, number: next - 1 }
    if (number !== undefined && number < next) return { done: 'already' }
    const refusal = whyNotAgain(payment, medium, sent) ?? (await whyNotNow(tx, payment, medium, rules, now))
    if (refusal !== undefined) return { done: 'refused', reason: refusal }
    const message_id = customerMessageId(tx_reference, 'paid', medium, next)
    const dates = { created_at: now, next_try_at: now }
    await addCustomerMessages(tx, [
      { merchant_id, tx_reference, mode, message_id, topic: 'paid', medium, recipient, ...dates },
    ])
    await addEvents(tx, payment, [event('receipt_resent', 'operator', null, medium, now)])
    return { done: 'queued', recipient, number: next }
  })
}

// True if this transaction runs again after its commit was lost.
const wasResent = async (tx: Tx, { merchant_id, tx_reference }: PaymentKey, medium: Medium, now: Date) =>
  (await eventsOf(tx, merchant_id, tx_reference)).some(
    ({ kind, reason, at }) =>
      kind === 'receipt_resent' && reason === medium && at.getTime() === now.getTime(),
  )

// The sender applies the caps again; checking them here shows the operator the reason at once.
async function whyNotNow(tx: Tx, payment: Payment, medium: Medium, rules: MessageRules, now: Date) {
  const { merchant_id, status } = payment
  const recipient = recipientOf(payment, medium) ?? ''
  const message = { merchant_id, recipient, medium, topic: 'paid', created_at: now, unanswered: 0 } as const
  const since = new Date(now.getTime() - capWindowMs)
  const counts = await countMessages(tx, [mailboxOf(recipient)], [merchant_id], since)
  return whyDropped(message, status, rules, now) ?? countUnderCaps(counts, message, rules)
}
