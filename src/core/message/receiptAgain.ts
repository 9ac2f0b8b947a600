import type { Payment } from '../payment/payment.ts'
import { addressesOf, type Message, mostReceipts, receiptIds } from './message.ts'
import type { Medium } from './messenger.ts'

type Sent = Pick<Message, 'message_id' | 'next_try_at'>
type Paid = Pick<Payment, 'tx_reference' | 'status' | 'number' | 'email' | 'redacted_at'>

const mediumWords: Record<Medium, string> = { sms: 'phone number', email: 'email address' }

// The number of the receipt that would be sent next: a form carries it, so that a double click is one message.
export function nextReceipt(
  { tx_reference }: Pick<Paid, 'tx_reference'>,
  medium: Medium,
  sent: readonly Sent[],
) {
  const ids = new Set(sent.map(({ message_id }) => message_id))
  return receiptIds(tx_reference, medium).findLastIndex(id => ids.has(id)) + 2
}

export const recipientOf = (payment: Paid, medium: Medium) =>
  addressesOf(payment).find(address => address.medium === medium)?.recipient

// Why a person cannot send the receipt of a payment again, in words for that person; the caps are not looked at. `sent`
// is what the customer was sent so far, by whatever medium.
export function whyNotAgain(payment: Paid, medium: Medium, sent: readonly Sent[]): string | undefined {
  if (payment.status !== 'paid') return 'There is no receipt: the payment is not paid.'
  if (payment.redacted_at) return "The customer's details were removed, so nobody can be told any more."
  if (!recipientOf(payment, medium)) return `No ${mediumWords[medium]} came with the payment.`
  const ids = new Set(receiptIds(payment.tx_reference, medium))
  if (sent.some(({ message_id, next_try_at }) => ids.has(message_id) && next_try_at !== null))
    return 'One is still on its way: see what comes of it first.'
  if (nextReceipt(payment, medium, sent) > mostReceipts)
    return `It was sent ${mostReceipts} times, which is the most.`
  return undefined
}
