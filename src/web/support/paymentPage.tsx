import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { Explained } from '../../actions/payments/explainPayment.ts'
import { Icon } from '../../core/markup/page.tsx'
import type { Message } from '../../core/message/message.ts'
import type { Status } from '../../core/payment/payment.ts'
import { moneyText, paymentFacts } from '../../core/timeline/history.ts'
import { joinSteps } from '../../core/timeline/nextSteps.ts'
import { deliverySteps, notificationStates } from '../../core/timeline/verdict.ts'
import { Pill, type PillTone, Time } from '../pages/operatorPage.tsx'
import { AttemptTable } from './attemptTable.tsx'
import { CustomerMessages } from './customerMessages.tsx'
import { HistoryTimeline, NextSteps } from './historyTimeline.tsx'
import { SupportPage } from './pages.tsx'
import { RefundTable } from './refundTable.tsx'
import { ShopNotifications } from './shopNotifications.tsx'
import { VerdictNotice } from './verdictNotice.tsx'

const statuses: Record<Status, [tone: PillTone, text: string]> = {
  awaiting_payment: ['wait', 'Awaiting payment'],
  paid: ['ok', 'Paid'],
  cancelled: ['off', 'Cancelled'],
  failed: ['bad', 'Failed'],
}

const shownAbove = new Set(['status', 'amount', 'reference'])

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

// The verdict, then on the left what happened, and on the right the payment and the messages.
export const SupportPaymentPage = (props: PaymentProps) => {
  const { explained, notifications, messages, now, formToken, query, notice } = props
  const { payment, next } = explained
  const title = `${payment.tx_reference}, ${payment.status}`
  const steps = joinSteps(deliverySteps(notificationStates(notifications), now), next)
  return (
    <SupportPage title={title} query={query} isTest={payment.mode === 'test'}>
      {notice && <ActionNotice notice={notice} />}
      <p class="crumb">
        <a href="/support">Support</a>
        <span aria-hidden="true">›</span>
        <strong>{payment.invoice_id}</strong>
      </p>
      <VerdictNotice
        explained={explained}
        notifications={notifications}
        messages={messages}
        now={now}
        formToken={formToken}
      />
      <div class="columns">
        <div class="stack">
          <HistoryTimeline
            explained={explained}
            notifications={notifications}
            messages={messages}
            now={now}
          />
          <NextSteps steps={steps} />
          <AttemptTable history={explained} />
          {explained.refunds.length > 0 && <RefundTable history={explained} />}
          <ShopNotifications notifications={notifications} now={now} formToken={formToken} />
        </div>
        <div class="stack">
          <Facts explained={explained} />
          <CustomerMessages payment={payment} messages={messages} formToken={formToken} />
        </div>
      </div>
    </SupportPage>
  )
}

const ActionNotice = ({ notice: { text, http } }: { notice: Notice }) => (
  <p class={`notice done ${http ? 'warn' : 'ok'}`} role="status">
    <Icon name={http ? 'alert' : 'check'} />
    <span>{text}</span>
  </p>
)

const Facts = ({ explained }: { explained: Explained }) => {
  const { payment } = explained
  const [tone, status] = statuses[payment.status]
  const facts = paymentFacts(explained).filter(([name]) => !shownAbove.has(name))
  return (
    <section class="card">
      <header>
        <h2 class="amount">{moneyText(payment.currency, payment.total)}</h2>
        <Pill tone={tone}>{status}</Pill>
      </header>
      <p class="reference small muted">{payment.tx_reference}</p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value instanceof Date ? <Time at={value} /> : value}</dd>
          </>
        ))}
      </dl>
    </section>
  )
}
