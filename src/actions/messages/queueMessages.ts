import {
  addressesOf,
  customerMessageId,
  exhaustedMessageId,
  firstWaitMs,
} from '../../core/message/message.ts'
import type { Mode } from '../../core/mode.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Tx } from '../../store/db.ts'
import { addCustomerMessages, addNotice, type CustomerMessage } from '../../store/messages/messages.ts'

// The customer hears how the payment ended, by every address that came with the request. That it is open again is no
// news to whoever opened it.
export function messagesFor(payment: Payment, now: Date): CustomerMessage[] {
  const { merchant_id, tx_reference, mode, status } = payment
  if (status === 'awaiting_payment') return []
  const next_try_at = new Date(now.getTime() + firstWaitMs[status])
  return addressesOf(payment).map(({ medium, recipient }) => ({
    merchant_id,
    tx_reference,
    mode,
    topic: status,
    message_id: customerMessageId(tx_reference, status, medium),
    medium,
    recipient,
    created_at: now,
    next_try_at,
  }))
}

export const queueMessages = (tx: Tx, payment: Payment, now: Date) =>
  addCustomerMessages(tx, messagesFor(payment, now))

// A notification could not be delivered: the merchant's contact hears of it, and of those that follow, in one mail.
// What it says is found out when it is sent.
export const queueExhaustedNotice = (
  tx: Tx,
  merchant_id: string,
  mode: Mode,
  contact_email: string,
  now: Date,
) =>
  addNotice(tx, {
    merchant_id,
    message_id: exhaustedMessageId(mode, now),
    mode,
    medium: 'email',
    topic: 'exhausted',
    recipient: contact_email,
    created_at: now,
    next_try_at: new Date(now.getTime() + firstWaitMs.exhausted),
  })
