import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { Explained } from '../../actions/payments/explainPayment.ts'
import type { Message } from '../../core/message/message.ts'
import type { Status } from '../../core/payment/payment.ts'
import { moneyText, paymentFacts } from '../../core/timeline/history.ts'
import type { NextStep } from '../../core/timeline/nextSteps.ts'
import type { Moment } from '../../core/timeline/timeline.ts'
import { Time } from '../pages/operatorPage.tsx'
import { CustomerMessages } from './customerMessages.tsx'
import { SupportPage } from './pages.tsx'
import { ShopNotifications } from './shopNotifications.tsx'

// Each status has a mark, because some operators cannot see its colour.
const marks: Record<Status, string> = { awaiting_payment: '…', paid: '✓', cancelled: '–', failed: '✕' }

const shownAbove = new Set(['status', 'amount'])

// The result of an action. `http` is set for a refusal.
export type Notice = { text: string; http?: number }

type PaymentProps = {
  explained: Explained
  notifications: readonly SentNotification[]
  messages: readonly Message[]
  now: Date
  formToken: string
  query: string
  notice?: Notice
}

export const SupportPaymentPage = (props: PaymentProps) => {
  const { explained, notifications, messages, now, formToken, query, notice } = props
  const { payment, moments, next } = explained
  const facts = paymentFacts(explained).filter(([name]) => !shownAbove.has(name))
  return (
    <SupportPage title={`${payment.tx_reference}, ${payment.status}`} query={query}>
      {notice && (
        <p class={`notice${notice.http ? ' warn' : ''}`} role="status">
          {notice.text}
        </p>
      )}
      {payment.mode === 'test' && <p class="warn mode">Test mode: no real money moves</p>}
      <section class="card">
        <h1 class="amount">{moneyText(payment.currency, payment.total)}</h1>
        <p class={`status ${payment.status}`}>
          <span aria-hidden="true">{marks[payment.status]}</span> {payment.status.replace('_', ' ')}
        </p>
        {payment.status_reason && <p>{payment.status_reason}</p>}
        <h2>What happens next</h2>
        <ul class="next">
          {next.map(step => (
            <NextStepItem step={step} />
          ))}
        </ul>
      </section>
      <section class="card">
        <h2>What happened</h2>
        <ol class="moments">
          {moments.map(moment => (
            <Happened moment={moment} />
          ))}
        </ol>
      </section>
      <CustomerMessages payment={payment} messages={messages} formToken={formToken} />
      <ShopNotifications notifications={notifications} now={now} formToken={formToken} />
      <section class="card">
        <h2>Facts</h2>
        <dl>
          {facts.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value instanceof Date ? <Time at={value} /> : value}</dd>
            </>
          ))}
        </dl>
      </section>
    </SupportPage>
  )
}

const NextStepItem = ({ step: { at, words: text } }: { step: NextStep }) => (
  <li>
    {at && (
      <>
        <Time at={at} />:{' '}
      </>
    )}
    {text}
  </li>
)

const Happened = ({ moment: { at, who, words: text } }: { moment: Moment }) => (
  <li>
    <span class="when">
      <Time at={at} />
    </span>
    <span class="who">{who}</span>
    <span class="words">{text}</span>
  </li>
)
