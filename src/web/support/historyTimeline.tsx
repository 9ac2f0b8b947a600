import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import type { Explained } from '../../actions/payments/explainPayment.ts'
import type { Lang } from '../../core/languages/languages.ts'
import { Icon } from '../../core/markup/page.tsx'
import { type Message, shownState } from '../../core/message/message.ts'
import { deliveryState, isInFlight } from '../../core/notification/delivery.ts'
import type { MomentMark } from '../../core/timeline/timeline.ts'
import { historyTexts } from '../../core/timeline/historyTexts.ts'
import { shortTime } from '../../core/timeline/verdict.ts'
import { fill } from '../../core/text.ts'
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

export const historyEntries = (
  { explained, notifications, messages, now }: HistoryProps,
  lang: Lang = 'en',
): HistoryEntry[] =>
  [
    ...explained.moments.map(({ at, mark, who, words: text }) => ({ at, mark, who, text })),
    ...notifications.flatMap(one => deliveryEntry(one, now, lang)),
    ...messages.flatMap(one => messageEntry(one, lang)),
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

function deliveryEntry(notification: SentNotification, now: Date, lang: Lang): HistoryEntry[] {
  const { status, tries, acknowledged_at, exhausted_at, last_try_at, next_try_at } = notification
  const texts = historyTexts[lang]
  const next = next_try_at ? fill(texts.next, { time: shortTime(next_try_at, now, lang) }) : ''
  const count = fill(tries === 1 ? texts.oneTry : texts.tries, { count: tries ?? 0 })
  const values = { name: texts.statuses[status], tries: count, number: tries ?? 0, next }
  const entry = (at: Date, mark: HistoryEntry['mark'], template: string): HistoryEntry[] => [
    { at, mark, who: texts.notification, text: fill(template, values) },
  ]
  if (deliveryState(notification) === 'none') return []
  if (acknowledged_at) return entry(acknowledged_at, 'done', texts.acknowledged)
  if (exhausted_at) return entry(exhausted_at, 'no', texts.never)
  if (isInFlight(notification, now)) return entry(now, 'now', texts.beingNotified)
  if (!last_try_at) return entry(now, 'now', texts.notified)
  return entry(last_try_at, 'late', texts.notAcknowledged)
}

function messageEntry(message: Message, lang: Lang): HistoryEntry[] {
  const { medium, topic, sent_at, ended_at, created_at } = message
  const texts = historyTexts[lang]
  const topics: Readonly<Record<string, string>> = texts.topics
  const state = shownState(message)
  const what = fill(texts.message, { topic: topics[topic] ?? topic, medium: texts.media[medium] })
  const text = fill(texts.states[state], { what })
  const at = sent_at ?? ended_at ?? created_at
  if (state === 'dropped') return [{ at: ended_at ?? at, mark: 'no', who: texts.whoMessage, text }]
  const mark = state === 'queued' || state === 'going' ? 'now' : 'done'
  return [{ at, mark, who: texts.whoMessage, text }]
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
