import type { RecentMessage, Sms } from '../../actions/messages/recentMessages.ts'
import { maskRecipient } from '../../core/mask.ts'
import { maxSeptets } from '../../core/message/texts/sms.ts'
import { MessagePill, MessageReason } from '../support/customerMessages.tsx'
import { Time } from '../pages/operatorPage.tsx'

// A framed mail may only open its links in a new window.
export const frameSandbox = 'allow-popups allow-popups-to-escape-sandbox'

type CardProps = { message: RecentMessage; from: string }

const topics = {
  paid: 'paid',
  failed: 'not paid',
  cancelled: 'cancelled',
  refunded: 'refunded',
  exhausted: 'notifications not delivered',
}

export const MessageCard = ({ message, from }: CardProps) => (
  <article class="card message">
    <div class="about">
      <header class="row">
        <h2>
          {message.medium === 'sms' ? 'SMS' : 'Mail'}: {topics[message.topic]}
        </h2>
        <MessagePill message={message} />
        <span class={message.mode === 'test' ? 'chip try' : 'chip'}>
          {message.mode === 'test' ? 'Test' : 'Live'}
        </span>
      </header>
      <MessageReason message={message} />
      <dl class="facts">
        <dt>To</dt>
        <dd>{shownRecipient(message)}</dd>
        <dt>Shop</dt>
        <dd>
          <bdi>{message.merchant_name}</bdi>
        </dd>
        <dt>Written</dt>
        <dd>
          <Time at={message.created_at} />
        </dd>
        {message.sent_at && (
          <>
            <dt>Sent</dt>
            <dd>
              <Time at={message.sent_at} />
            </dd>
          </>
        )}
        {message.sms && (
          <>
            <dt>Length</dt>
            <dd>{lengthText(message.sms)}</dd>
          </>
        )}
      </dl>
      {message.tx_token !== null && <PaymentLinks message={message} />}
    </div>
    <div class="shown">
      {message.sms && <Bubble sms={message.sms} lang={message.lang} />}
      {message.mail && <Mail message={message} from={from} />}
      {!message.sms && !message.mail && (
        <p class="muted">A notice to the merchant. It is no longer needed.</p>
      )}
    </div>
  </article>
)

const lengthText = ({ segments, places }: Sms) =>
  segments === 1 ? `1 segment, ${places} of ${maxSeptets} characters` : `${segments} segments`

// A test recipient is not a real person. A real recipient is masked, in a form that its owner recognises.
export const shownRecipient = ({ mode, recipient }: RecentMessage) =>
  mode === 'test' ? recipient : maskRecipient(recipient)

const PaymentLinks = ({ message: { tx_token, tx_reference, merchant_id } }: { message: RecentMessage }) => (
  <p class="row">
    <a
      class="btn plain small"
      href={`/support?${new URLSearchParams({ q: tx_reference ?? '', merchant: merchant_id }).toString()}`}
    >
      What happened to it
    </a>
    <a class="btn plain small" href={`/checkout/${tx_token}`}>
      Payment page
    </a>
    <span class="tiny muted">{tx_reference}</span>
  </p>
)

const Bubble = ({ sms: { text }, lang }: { sms: Sms; lang: string }) => (
  <blockquote class="bubble" lang={lang}>
    {text}
  </blockquote>
)

const Mail = ({ message, from }: CardProps) => {
  const { merchant_id, message_id, lang, mail } = message
  const address = `/inbox/${encodeURIComponent(merchant_id)}/${encodeURIComponent(message_id)}/html`
  return (
    <div class="mail">
      <dl class="envelope">
        <dt>From</dt>
        <dd>{from}</dd>
        <dt>Subject</dt>
        <dd lang={lang}>
          <strong>{mail?.subject}</strong>
        </dd>
      </dl>
      <iframe src={address} title={`The mail: ${mail?.subject}`} sandbox={frameSandbox} loading="lazy" />
      <details>
        <summary>As plain text</summary>
        <pre lang={lang} tabindex={0}>
          {mail?.text}
        </pre>
      </details>
    </div>
  )
}
