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
import { Pill, type PillTone, Time } from '../pages/operatorPage.tsx'

type MessagesProps = { payment: Payment; messages: readonly Message[]; formToken: string }

const names: Record<Medium, string> = { sms: 'SMS', email: 'Mail' }
const topics: Record<string, string> = {
  paid: 'the receipt',
  failed: 'not paid',
  cancelled: 'cancelled',
  refunded: 'refunded',
}
const media: readonly Medium[] = ['sms', 'email']

// The messages to the customer, and for each address a button to send the receipt again.
export const CustomerMessages = ({ payment, messages, formToken }: MessagesProps) => (
  <section class="card">
    <header>
      <h2>Messages to the customer</h2>
      <a href="/inbox">Inbox</a>
    </header>
    {messages.length === 0 && <p class="empty">{whyNone(payment)}</p>}
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
    <div class="row">
      <h3>
        {names[message.medium]}: {topics[message.topic] ?? message.topic}{' '}
        <span class="muted">to {maskRecipient(message.recipient)}</span>
      </h3>
      <MessagePill message={message} />
    </div>
    <MessageReason message={message} />
    <p class="small muted">
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
      <p class="small muted">
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
      <button type="submit" class="btn plain">
        Send the receipt again by {medium === 'sms' ? 'SMS' : 'mail'} to {to}
      </button>
    </form>
  )
}

const maxReasonLength = 300

type StateFields = Pick<Message, 'state' | 'messenger' | 'sent_at' | 'words' | 'next_try_at' | 'tries'>

// Each state has a mark, because some operators cannot see its colour.
const shownStates: Record<ShownState, { tone: PillTone; label: string; by?: boolean }> = {
  queued: { tone: 'wait', label: 'waiting' },
  going: { tone: 'wait', label: 'on its way' },
  kept: { tone: 'ok', label: 'kept here' }, // no messenger is configured for this medium
  sent: { tone: 'ok', label: 'sent', by: true },
  delivered: { tone: 'ok', label: 'delivered', by: true },
  dropped: { tone: 'bad', label: 'not sent' },
}

export const MessagePill = ({ message }: { message: StateFields }) => {
  const { tone, label, by } = shownStates[shownState(message)]
  return (
    <Pill tone={tone}>
      {label}
      {by && message.messenger && ` by ${message.messenger}`}
    </Pill>
  )
}

// Why it was not sent, and when it is tried again.
export const MessageReason = ({ message }: { message: StateFields }) => {
  const { words: reason, next_try_at, tries } = message
  return (
    <>
      {reason && <p>{reason.slice(0, maxReasonLength)}</p>}
      {next_try_at && (
        <p class="small muted">
          {shownState(message) === 'going' ? 'Without an answer tried again at' : waiting(tries)}{' '}
          <Time at={next_try_at} />
        </p>
      )}
    </>
  )
}

function waiting(tries: number): string {
  if (tries === 0) return 'Goes out at'
  return tries === 1 ? 'Tried once, again at' : `Tried ${tries} times, again at`
}
