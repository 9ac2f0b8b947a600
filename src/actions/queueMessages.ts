import { addressesOf, customerMessageId, exhaustedMessageId, firstWaitMs } from '../core/message.ts'
import type { LivingPayment, Mode } from '../core/payment.ts'
import type { Tx } from '../store/db.ts'
import { addCustomerMessages, addNotice } from '../store/messages.ts'

// The customer hears how the payment ended, by every address that came with the request. That it is open again is no
// news to whoever opened it.
export async function queueMessages(tx: Tx, payment: LivingPayment, now: Date) {
  const { status, tx_reference } = payment
  const addresses = addressesOf(payment)
  if (status === 'awaiting_payment' || addresses.length === 0) return
  const messages = addresses.map(({ medium, recipient }) => ({
    message_id: customerMessageId(tx_reference, status, medium),
    medium,
    recipient,
  }))
  const next_try_at = new Date(now.getTime() + firstWaitMs[status])
  await addCustomerMessages(tx, payment, { topic: status, created_at: now, next_try_at }, messages)
}

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
