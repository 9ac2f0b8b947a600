import { maskRecipient } from '../../core/mask.ts'
import type { Message } from '../../core/message/message.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { nextReceipt, recipientOf, whyNotAgain } from '../../core/message/receiptAgain.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { FormToken } from '../http/formToken.tsx'
import { StateWords } from './messageState.tsx'
import { Time } from './time.tsx'

type SentProps = { payment: Payment; sent: readonly Message[]; formToken: string }

const names: Record<Medium, string> = { sms: 'SMS', email: 'Mail' }
const topics: Record<string, string> = { paid: 'the receipt', failed: 'not paid', cancelled: 'cancelled' }
const media: readonly Medium[] = ['sms', 'email']

// What the customer was sent, and a button for each address to send the receipt again.
export const SentCustomer = ({ payment, sent, formToken }: SentProps) => (
  <section class="card">
    <h2>What the customer was sent</h2>
    {sent.length === 0 && <p>{nothing(payment)}</p>}
    {sent.map(message => (
      <Sent message={message} />
    ))}
    {payment.status === 'paid' &&
      media
        .filter(medium => recipientOf(payment, medium))
        .map(medium => <Again payment={payment} sent={sent} medium={medium} formToken={formToken} />)}
  </section>
)

function nothing({ number, email, redacted_at }: Payment): string {
  if (redacted_at) return "The customer's details were removed, and with them what was sent."
  if (!number && !email) return 'Nothing: neither a phone number nor an email address came with the payment.'
  return 'Nothing yet. A customer is told when a payment is paid, and when it fails or is cancelled after a try.'
}

const Sent = ({ message }: { message: Message }) => (
  <article class="told">
    <h3>
      {names[message.medium]}: {topics[message.topic] ?? message.topic}{' '}
      <span class="muted">to {maskRecipient(message.recipient)}</span>
    </h3>
    <StateWords message={message} />
    <p class="muted">
      Written <Time at={message.created_at} />
      {message.sent_at && (
        <>
          , sent <Time at={message.sent_at} />
        </>
      )}
    </p>
  </article>
)

type AgainProps = SentProps & { medium: Medium }

// Carries the number of the receipt that it sends, so that a second press sends no other.
const Again = ({ payment, sent, medium, formToken }: AgainProps) => {
  const why = whyNotAgain(payment, medium, sent)
  const to = maskRecipient(recipientOf(payment, medium) ?? '')
  if (why)
    return (
      <p class="muted">
        {names[medium]} to {to}: {why}
      </p>
    )
  return (
    <form method="post" action="/support/receipt">
      <FormToken token={formToken} />
      <input type="hidden" name="merchant" value={payment.merchant_id} />
      <input type="hidden" name="reference" value={payment.tx_reference} />
      <input type="hidden" name="medium" value={medium} />
      <input type="hidden" name="number" value={nextReceipt(payment, medium, sent)} />
      <button type="submit" class="second">
        Send the receipt again by {medium === 'sms' ? 'SMS' : 'mail'} to {to}
      </button>
    </form>
  )
}
