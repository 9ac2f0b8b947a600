import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { Explained } from '../../actions/payments/explainPayment.ts'
import { Icon } from '../../core/markup/page.tsx'
import { type Message, shownState } from '../../core/message/message.ts'
import { deliveryState, isInFlight } from '../../core/notification/delivery.ts'
import type { MomentMark } from '../../core/timeline/timeline.ts'
import { shortTime } from '../../core/timeline/verdict.ts'
import { ClockTime, Time } from '../pages/operatorPage.tsx'

type HistoryProps = {
  explained: Explained
  notifications: readonly SentNotification[]
  messages: readonly Message[]
  now: Date
}
export type HistoryEntry = { at: Date; mark: MomentMark | 'now'; text: string; who: string }

// Everything that happened to a payment, to its notifications and to its messages, in the order of time.
export const HistoryTimeline = ({ explained, notifications, messages, now }: HistoryProps) => {
  const { payment } = explained
  const entries = historyEntries({ explained, notifications, messages, now })
  return (
    <section class="card">
      <header>
        <h2>What happened</h2>
        <span class="small muted">
          <time datetime={payment.created_at.toISOString()}>
            {payment.created_at.toISOString().slice(0, 10)}
          </time>
          , UTC
        </span>
      </header>
      <ol class="timeline">
        {entries.map(entry => (
          <TimelineEntry entry={entry} day={payment.created_at} />
        ))}
      </ol>
    </section>
  )
}

export const historyEntries = ({ explained, notifications, messages, now }: HistoryProps): HistoryEntry[] =>
  [
    ...explained.moments.map(({ at, mark, who, words: text }) => ({ at, mark, who, text })),
    ...notifications.flatMap(one => deliveryEntry(one, now)),
    ...messages.flatMap(messageEntry),
  ].sort((a, b) => a.at.getTime() - b.at.getTime())

export const dotIcons = { done: 'check', no: 'cross', late: 'alert' } as const

const TimelineEntry = ({ entry: { at, mark, text, who }, day }: { entry: HistoryEntry; day: Date }) => (
  <li class={mark}>
    <span class="dot">{mark !== 'now' && <Icon name={dotIcons[mark]} />}</span>
    <span class="what">{text}</span>
    <ClockTime at={at} day={day} />
    <span class="note">{who}</span>
  </li>
)

function deliveryEntry(notification: SentNotification, now: Date): HistoryEntry[] {
  const { status, tries, acknowledged_at, exhausted_at, last_try_at, next_try_at } = notification
  const name = `“${status.replace('_', ' ')}”`
  const who = 'notification'
  if (deliveryState(notification) === 'none') return []
  if (acknowledged_at)
    return [{ at: acknowledged_at, mark: 'done', who, text: `The shop acknowledged ${name}` }]
  if (exhausted_at)
    return [
      {
        at: exhausted_at,
        mark: 'no',
        who,
        text: `The shop never acknowledged ${name}: ${tries} tries, given up`,
      },
    ]
  if (isInFlight(notification, now))
    return [{ at: now, mark: 'now', who, text: `The shop is being notified of ${name}, try ${tries}` }]
  const next = next_try_at ? `, next ${shortTime(next_try_at, now)}` : ''
  if (!last_try_at) return [{ at: now, mark: 'now', who, text: `The shop is notified of ${name}${next}` }]
  const count = tries === 1 ? '1 try' : `${tries} tries`
  return [
    { at: last_try_at, mark: 'late', who, text: `The shop has not acknowledged ${name}: ${count}${next}` },
  ]
}

const topics: Record<string, string> = {
  paid: 'receipt',
  failed: 'message “not paid”',
  cancelled: 'message “cancelled”',
  refunded: 'message “refunded”',
}

function messageEntry(message: Message): HistoryEntry[] {
  const { medium, topic, sent_at, ended_at, created_at } = message
  const what = `The ${topics[topic] ?? topic} by ${medium === 'sms' ? 'SMS' : 'email'}`
  const who = 'message'
  const at = sent_at ?? ended_at ?? created_at
  switch (shownState(message)) {
    case 'delivered':
      return [{ at, mark: 'done', who, text: `${what} was delivered` }]
    case 'sent':
      return [{ at, mark: 'done', who, text: `${what} went out` }]
    case 'kept':
      return [{ at, mark: 'done', who, text: `${what} is in the inbox` }]
    case 'dropped':
      return [{ at: ended_at ?? at, mark: 'no', who, text: `${what} was not sent` }]
    default:
      return [{ at, mark: 'now', who, text: `${what} is on its way` }]
  }
}

type NextProps = { steps: Explained['next'] }

export const NextSteps = ({ steps }: NextProps) => (
  <section class="card">
    <header>
      <h2>What happens next</h2>
    </header>
    <ul class="next">
      {steps.map(({ at, words: text }) => (
        <li>
          <span>{text}</span>
          {at && <Time at={at} />}
        </li>
      ))}
    </ul>
  </section>
)
