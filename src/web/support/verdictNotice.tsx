import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { Explained } from '../../actions/payments/explainPayment.ts'
import { Icon } from '../../core/markup/page.tsx'
import type { Message } from '../../core/message/message.ts'
import { notificationStates, type Verdict, verdict } from '../../core/timeline/verdict.ts'
import { RedeliverForm } from './redeliverForm.tsx'

type VerdictProps = {
  explained: Explained
  notifications: readonly SentNotification[]
  messages: readonly Message[]
  now: Date
  formToken: string
}

const icons: Record<Verdict['tone'], 'check' | 'alert' | 'stop'> = {
  ok: 'check',
  off: 'alert',
  warn: 'alert',
  bad: 'stop',
}

// The first thing on the page of a payment: the verdict, the reason and the button that helps.
export const VerdictNotice = ({ explained, notifications, messages, now, formToken }: VerdictProps) => {
  const { tone, title, reason, resend } = verdict(explained, notificationStates(notifications), messages, now)
  const notification = notifications.find(({ sequence }) => sequence === resend)
  return (
    <section class={`notice ${tone}`}>
      <Icon name={icons[tone]} />
      <div>
        <h1>{title}</h1>
        <p>{reason}</p>
      </div>
      {notification && (
        <RedeliverForm notification={notification} formToken={formToken}>
          <button type="submit" class="btn">
            Send again
          </button>
        </RedeliverForm>
      )}
    </section>
  )
}
