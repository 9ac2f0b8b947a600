import { FormToken } from '../../core/markup/page.tsx'
import { maskRecipient } from '../../core/mask.ts'
import {
  type Message,
  nextReceipt,
  recipientOf,
  type ShownState,
  shownState,
  whyNotAgain,
} from '../../core/message/message.ts'
import type { Medium } from '../../core/message/messenger.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { Time } from '../pages/operatorPage.tsx'

type MessagesProps = { payment: Payment; messages: readonly Message[]; formToken: string }

const names: Record<Medium, string> = { sms: 'SMS', email: 'Mail' }
const topics: Record<string, string> = { paid: 'the receipt', failed: 'not paid', cancelled: 'cancelled' }
const media: readonly Medium[] = ['sms', 'email']

// The messages to the customer, and for each address a button to send the receipt again.
export const CustomerMessages = ({ payment, messages, formToken }: MessagesProps) => (
  <section class="card">
    <h2>Messages to the customer</h2>
    {messages.length === 0 && <p>{whyNone(payment)}</p>}
    {messages.map(message => (
      <MessageRecord message={message} />
    ))}
    {payment.status === 'paid' &&
      media
        .filter(medium => recipientOf(payment, medium))
        .map(medium => (
          <SendAgain payment={payment} messages={messages} medium={medium} formToken={formToken} />
        ))}
  </section>
)

function whyNone({ number, email, redacted_at }: Payment): string {
  if (redacted_at) return "The customer's details were removed, and with them what was sent."
  if (!number && !email) return 'Nothing: neither a phone number nor an email address came with the payment.'
  return 'Nothing yet. A customer gets a message when a payment is paid, and when it fails or is cancelled after a try.'
}

const MessageRecord = ({ message }: { message: Message }) => (
  <article class="record">
    <h3>
      {names[message.medium]}: {topics[message.topic] ?? message.topic}{' '}
      <span class="muted">to {maskRecipient(message.recipient)}</span>
    </h3>
    <MessageStatus message={message} />
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

type SendAgainProps = MessagesProps & { medium: Medium }

// The form has the number of the receipt to send, so that a second press does not send another one.
const SendAgain = ({ payment, messages, medium, formToken }: SendAgainProps) => {
  const why = whyNotAgain(payment, medium, messages)
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
      <input type="hidden" name="number" value={nextReceipt(payment, medium, messages)} />
      <button type="submit" class="second">
        Send the receipt again by {medium === 'sms' ? 'SMS' : 'mail'} to {to}
      </button>
    </form>
  )
}

const maxReasonLength = 300

type StateFields = Pick<Message, 'state' | 'messenger' | 'sent_at' | 'words' | 'next_try_at' | 'tries'>

// Each state has a mark, because some operators cannot see its colour.
const shownStates = {
  queued: { mark: '…', label: 'waiting' },
  going: { mark: '…', label: 'on its way' },
  kept: { mark: '✓', label: 'kept here' }, // no messenger is configured for this medium
  sent: { mark: '✓', label: 'sent', by: true },
  delivered: { mark: '✓✓', label: 'delivered', by: true },
  dropped: { mark: '✕', label: 'not sent' },
} satisfies Record<ShownState, { mark: string; label: string; by?: boolean }>

export const MessageStatus = ({ message }: { message: StateFields }) => {
  const state = shownState(message)
  const { mark, label, by }: { mark: string; label: string; by?: boolean } = shownStates[state]
  const { words: reason, messenger, next_try_at, tries } = message
  return (
    <>
      <p class={`status ${state}`}>
        <span aria-hidden="true">{mark}</span> {label}
        {by && messenger && ` by ${messenger}`}
      </p>
      {reason && <p>{reason.slice(0, maxReasonLength)}</p>}
      {next_try_at && (
        <p class="muted">
          {state === 'going' ? 'Without an answer tried again at' : waiting(tries)} <Time at={next_try_at} />
        </p>
      )}
    </>
  )
}

function waiting(tries: number): string {
  if (tries === 0) return 'Goes out at'
  return tries === 1 ? 'Tried once, again at' : `Tried ${tries} times, again at`
}
