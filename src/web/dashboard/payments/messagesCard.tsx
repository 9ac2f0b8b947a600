import { FormToken } from '../../../core/markup/page.tsx'
import { maskRecipient } from '../../../core/mask.ts'
import {
  type Message,
  nextReceipt,
  recipientOf,
  shownState,
  whyNotAgain,
} from '../../../core/message/message.ts'
import type { Medium } from '../../../core/message/messenger.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import { Pill, type PillTone } from '../../pages/operatorPage.tsx'
import { Clock, dayOf, type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'

const media: readonly Medium[] = ['sms', 'email']
const maxReason = 300

// The messages to the customer, and a button for each address to send the receipt again.
export const MessagesCard = (props: PaymentPageProps) => {
  const { visit, details } = props
  const texts = paymentTexts[visit.lang]
  const { messages, explained } = details
  const { payment } = explained
  return (
    <section class="card" id="messages">
      <header>
        <h2>{texts.messages}</h2>
        {messages.length > 0 && visit.may('payments.receipt') && (
          <a class="small" href={`${pathOf(visit, details)}/messages`}>
            {texts.readMessages[messages.length] ?? texts.readAllMessages}
          </a>
        )}
      </header>
      {messages.length === 0 && <p class="empty">{whyNone(props)}</p>}
      <ul class="lines">
        {messages.map(message => (
          <MessageLine {...props} message={message} />
        ))}
      </ul>
      {payment.status === 'paid' &&
        visit.may('payments.receipt') &&
        media
          .filter(medium => recipientOf(payment, medium) && !whyNotAgain(payment, medium, messages))
          .map(medium => (
            <form method="post" action={`${pathOf(visit, details)}/receipt`}>
              <FormToken token={visit.formToken} />
              <input type="hidden" name="medium" value={medium} />
              <input type="hidden" name="number" value={nextReceipt(payment, medium, messages)} />
              <button type="submit" class="btn plain small">
                {texts.receiptBy[medium]}
              </button>
            </form>
          ))}
    </section>
  )
}

function whyNone({ visit, details }: PaymentPageProps): string {
  const { number, email, redacted_at } = details.explained.payment
  const texts = paymentTexts[visit.lang]
  if (redacted_at) return texts.erased
  return number || email ? texts.noMessages : texts.noContacts
}

const tones: Record<ReturnType<typeof shownState>, PillTone> = {
  queued: 'wait',
  going: 'wait',
  kept: 'ok',
  sent: 'ok',
  delivered: 'ok',
  dropped: 'bad',
}

type MessageLineProps = Pick<PaymentPageProps, 'visit' | 'details' | 'timeZone' | 'isRevealed'> & {
  message: Message
}

export const MessageLine = (props: MessageLineProps) => {
  const { visit, timeZone, message, isRevealed } = props
  const texts = paymentTexts[visit.lang]
  const { topic, medium, recipient, sent_at, created_at, words: reason } = message
  const topics: Readonly<Record<string, string>> = texts.topics
  const state = shownState(message)
  return (
    <li>
      <span>
        {fill(topics[topic] ?? texts.topics.other, { medium: texts.media[medium] })}
        <small>
          {isRevealed ? recipient : maskRecipient(recipient)},{' '}
          <Clock at={sent_at ?? created_at} day={dayOf(props)} visit={visit} timeZone={timeZone} />
          {reason && `, ${storedText(withoutControls(reason), visit.lang).slice(0, maxReason)}`}
        </small>
      </span>
      <Pill tone={tones[state]}>{texts.messageStates[state]}</Pill>
    </li>
  )
}
