import { recentMessage, type RecentMessage } from '../../../actions/messages/recentMessages.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { MerchantPage } from '../frame/frame.tsx'
import type { MerchantVisit } from '../route.ts'
import { MessageLine } from './messagesCard.tsx'
import { type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'

type MessagesPageProps = Pick<PaymentPageProps, 'visit' | 'details' | 'timeZone'> & {
  messages: readonly RecentMessage[]
}

// The messages of a payment with their words.
export const readMessages = async (
  { db }: MerchantVisit,
  { messages }: PaymentPageProps['details'],
  baseUrl: () => string,
): Promise<RecentMessage[]> =>
  (await Promise.all(messages.map(message => recentMessage({ db, baseUrl }, message)))).filter(
    message => message !== undefined,
  )

// What the customer reads, for a shop that is asked about it.
export const MessagesPage = ({ visit, details, timeZone, messages }: MessagesPageProps) => {
  const texts = paymentTexts[visit.lang]
  const invoice = withoutControls(details.explained.payment.invoice_id)
  return (
    <MerchantPage visit={visit} title={`${texts.messages}: ${invoice}`} place="payments">
      <p class="crumb">
        <a href={`${visit.base}/payments`}>{texts.payments}</a>
        <span aria-hidden="true">›</span>
        <a href={pathOf(visit, details)}>{invoice}</a>
        <span aria-hidden="true">›</span>
        <strong>{texts.messages}</strong>
      </p>
      <section class="card roomy narrow">
        <div class="pay-stack">
          <h1>{texts.messages}</h1>
          <p class="small muted">{messages.length > 0 ? texts.wordsNow : texts.noMessages}</p>
          {messages.map(message => (
            <article class="read">
              <ul class="lines">
                <MessageLine visit={visit} details={details} timeZone={timeZone} message={message} />
              </ul>
              <Words message={message} gone={texts.wordsGone} />
            </article>
          ))}
        </div>
      </section>
    </MerchantPage>
  )
}

const Words = ({ message: { sms, mail, lang }, gone }: { message: RecentMessage; gone: string }) => {
  if (sms) return <blockquote lang={lang}>{sms.text}</blockquote>
  if (!mail) return <p class="muted">{gone}</p>
  return (
    <blockquote lang={lang}>
      <strong>{mail.subject}</strong>
      {'\n\n'}
      {mail.text}
    </blockquote>
  )
}
