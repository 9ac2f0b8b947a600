import {
  addressesOf,
  customerMessageId,
  exhaustedMessageId,
  firstWaitMs,
  refundMessageId,
} from '../../core/message/message.ts'
import type { Mode } from '../../core/mode.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Refund } from '../../core/refund/refund.ts'
import type { Db, Tx } from '../../store/db.ts'
import { messageStats } from '../../store/messages/messageList.ts'
import { addCustomerMessages, addNotice, type CustomerMessage } from '../../store/messages/messages.ts'

// One message to every address of the request. A payment that is open again causes none.
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

// One message to every address of the request, about a refund that has succeeded.
export const refundMessagesFor = (
  payment: Payment,
  { refund_reference }: Pick<Refund, 'refund_reference'>,
  now: Date,
): CustomerMessage[] =>
  addressesOf(payment).map(({ medium, recipient }) => ({
    merchant_id: payment.merchant_id,
    tx_reference: payment.tx_reference,
    mode: payment.mode,
    topic: 'refunded',
    message_id: refundMessageId(refund_reference, medium),
    medium,
    recipient,
    created_at: now,
    next_try_at: new Date(now.getTime() + firstWaitMs.refunded),
  }))

export const queueMessages = (tx: Tx, payment: Payment, now: Date) =>
  addCustomerMessages(tx, messagesFor(payment, now))

// One mail to the merchant's contact about this exhausted notification and those that follow. Its text is composed when
// it is sent.
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

export type MessageQueue = { queued: number; oldest_due_seconds: number }

export async function countQueuedMessages(db: Db, now: Date): Promise<MessageQueue> {
  const { queued, oldest_due_at } = await messageStats(db, now)
  const oldest_due_seconds = oldest_due_at ? Math.max(0, (now.getTime() - oldest_due_at.getTime()) / 1000) : 0
  return { queued, oldest_due_seconds }
}
