import { FormToken, Icon } from '../../../core/markup/page.tsx'
import { joinSteps } from '../../../core/timeline/nextSteps.ts'
import { deliverySteps, notificationStates, type Verdict, verdict } from '../../../core/timeline/verdict.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { fill } from '../../../core/text.ts'
import { dotIcons, historyEntries } from '../../support/historyTimeline.tsx'
import { MerchantPage } from '../frame/frame.tsx'
import { SmallIcon } from '../frame/icons.tsx'
import { FactsCard } from './factsCard.tsx'
import { shortDay } from './filterBar.tsx'
import { LedgerCard } from './ledgerCard.tsx'
import { MessagesCard } from './messagesCard.tsx'
import { NotificationsCard, RedeliverButton } from './notificationsCard.tsx'
import { Clock, dayOf, type PaymentNotice, type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'
import { AttemptsCard, RefundsCard } from './chargesCards.tsx'

// The verdict, then what happened on the left, and the facts on the right.
export const PaymentPage = (props: PaymentPageProps) => {
  const { visit, details, notice } = props
  const { payment } = details.explained
  const texts = paymentTexts[visit.lang]
  const invoice = withoutControls(payment.invoice_id)
  return (
    <MerchantPage
      visit={visit}
      title={invoice}
      place="payments"
      head={<script src="/public/copy.js" defer />}
    >
      <p class="crumb">
        <a href={`${visit.base}/payments`}>{texts.payments}</a>
        <span aria-hidden="true">›</span>
        <strong>{invoice}</strong>
        <span class="gap" />
        {payment.status === 'paid' && <ReceiptLinks {...props} />}
      </p>
      {notice && <ActionNotice notice={notice} />}
      <VerdictCard {...props} />
      <div class="payment-cols">
        <div class="pay-stack">
          <HistoryCard {...props} />
          <NextCard {...props} />
          <AttemptsCard {...props} />
          <NotificationsCard {...props} />
          {visit.may('money.view') && <LedgerCard {...props} />}
        </div>
        <div class="pay-stack">
          <FactsCard {...props} />
          <RefundsCard {...props} />
          <MessagesCard {...props} />
          <CancelCard {...props} />
        </div>
      </div>
    </MerchantPage>
  )
}

// The forms that send the receipt stand beside the messages. The receipt of the checkout is made to be printed.
const ReceiptLinks = ({ visit, details, baseUrl }: PaymentPageProps) => {
  const texts = paymentTexts[visit.lang]
  const { payment } = details.explained
  return (
    <>
      {visit.may('payments.receipt') && (payment.number || payment.email) && (
        <a class="btn plain small" href="#messages">
          <SmallIcon path="M3 5h14v10H3zM3 6l7 5 7-5" />
          {texts.receiptAgain}
        </a>
      )}
      {visit.may('payments.receipt') && (
        <a class="btn plain small" href={`${baseUrl}/checkout/${payment.tx_token}/receipt`} rel="noreferrer">
          <SmallIcon path="M6 7V3h8v4M6 14H3V7h14v7h-3M6 12h8v5H6z" />
          {texts.print}
        </a>
      )}
    </>
  )
}

export const ActionNotice = ({ notice: { text, isRefused } }: { notice: PaymentNotice }) => (
  <p class={`notice done ${isRefused ? '' : 'ok'}`} role="status">
    <Icon name={isRefused ? 'alert' : 'check'} />
    <span>{text}</span>
  </p>
)

const icons: Record<Verdict['tone'], 'check' | 'alert' | 'stop'> = {
  ok: 'check',
  off: 'alert',
  warn: 'alert',
  bad: 'stop',
}

const VerdictCard = (props: PaymentPageProps) => {
  const { visit, details } = props
  const { explained, notifications, messages } = details
  const states = notificationStates(notifications)
  const { tone, title, reason, resend } = verdict(explained, states, messages, visit.now, visit.lang)
  const notification = notifications.find(({ sequence }) => sequence === resend)
  return (
    <section class={`notice ${tone}`}>
      <Icon name={icons[tone]} />
      <div>
        <h1>{title}</h1>
        <p>{reason}</p>
      </div>
      {notification && visit.may('payments.redeliver') && (
        <RedeliverButton {...props} notification={notification} isMain />
      )}
    </section>
  )
}

const HistoryCard = (props: PaymentPageProps) => {
  const { visit, details, timeZone } = props
  const texts = paymentTexts[visit.lang]
  const day = dayOf(props)
  return (
    <section class="card">
      <header>
        <h2>{texts.happened}</h2>
        <span class="small muted">
          {fill(texts.zone, {
            day: shortDay(day, visit.lang, true),
            zone: timeZone.replace(/^.*\//, '').replaceAll('_', ' '),
          })}
        </span>
      </header>
      <ol class="timeline">
        {historyEntries({ ...details, now: visit.now }, visit.lang).map(({ at, mark, text, who }) => (
          <li class={mark}>
            <span class="dot">{mark !== 'now' && <Icon name={dotIcons[mark]} />}</span>
            <span class="what">{text}</span>
            <Clock at={at} day={day} visit={visit} timeZone={timeZone} />
            <span class="note">{who}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const NextCard = ({ visit, details, timeZone }: PaymentPageProps) => {
  const steps = joinSteps(
    deliverySteps(notificationStates(details.notifications), visit.now, visit.lang),
    details.explained.next,
    visit.lang,
  )
  return (
    <section class="card">
      <header>
        <h2>{paymentTexts[visit.lang].next}</h2>
      </header>
      <ul class="next">
        {steps.map(({ at, words: text }) => (
          <li>
            <span>{text}</span>
            {at && <Clock at={at} visit={visit} timeZone={timeZone} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

// The form has the status that the page shows, so that a payment which has changed since is not cancelled.
const CancelCard = ({ visit, details }: PaymentPageProps) => {
  const { payment, attempts } = details.explained
  const texts = paymentTexts[visit.lang]
  if (!visit.may('payments.cancel') || payment.cancel_requested_at) return null
  if (payment.status !== 'awaiting_payment' && payment.status !== 'failed') return null
  const isOpen = attempts.some(({ state }) => state !== 'paid' && state !== 'failed')
  return (
    <section class="card">
      <form method="post" action={`${pathOf(visit, details)}/cancel`} class="pay-stack">
        <p class="small muted">{isOpen ? texts.cancelOpen : texts.cancelText}</p>
        <input type="hidden" name="seen" value={payment.status} />
        <FormToken token={visit.formToken} />
        <div>
          <button type="submit" class="btn danger small">
            {texts.cancel}
          </button>
        </div>
      </form>
    </section>
  )
}
