import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import {
  deliveryState,
  hintsFor,
  isInFlight,
  missingTries,
  resultText,
  triesKeptDays,
} from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import { Time } from '../pages/operatorPage.tsx'
import { RedeliverForm } from './redeliverForm.tsx'

type ShopProps = { notifications: readonly SentNotification[]; now: Date; formToken: string }

// The notifications to the shop, with every try, and for each a button to send it again.
export const ShopNotifications = ({ notifications, now, formToken }: ShopProps) => (
  <section class="card">
    <header>
      <h2>Notifications to the shop</h2>
    </header>
    {notifications.length === 0 && (
      <p class="empty">Nothing yet: the first notification comes when the status changes.</p>
    )}
    {notifications.map(one => (
      <Notification notification={one} now={now} formToken={formToken} />
    ))}
    {hintsFor(notifications.map(({ last_result }) => last_result)).map(hint => (
      <p class="hint">{hint}</p>
    ))}
  </section>
)

type NotificationProps = { notification: SentNotification; now: Date; formToken: string }

const Notification = ({ notification, now, formToken }: NotificationProps) => (
  <article class="record">
    <h3>
      {(isStatus(notification) ? notification.status : notification.type)?.replace('_', ' ')}{' '}
      <span class="muted">{notificationId(notification)}</span>
    </h3>
    {notification.url !== null && (
      <p class="small muted">To {withoutQuery(withoutControls(notification.url))}</p>
    )}
    <p>
      <DeliveryState notification={notification} now={now} />
    </p>
    <Tries notification={notification} now={now} />
    {!isInFlight(notification, now) && !isFeedOnly(notification) && (
      <RedeliverForm notification={notification} formToken={formToken}>
        <button type="submit" class="btn plain">
          Send notification {notification.sequence} again
        </button>
      </RedeliverForm>
    )}
  </article>
)

// Refunds and disputes do not change the status. The shop reads them in its feed.
const isStatus = ({ type }: SentNotification) => type === undefined || type === 'status'
const isFeedOnly = (notification: SentNotification) => !isStatus(notification) && notification.url === null

// The query may hold a secret of the merchant.
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')

const DeliveryState = ({ notification, now }: { notification: SentNotification; now: Date }) => {
  const { acknowledged_at, exhausted_at, next_try_at, tries } = notification
  const state = deliveryState(notification)
  if (isFeedOnly(notification)) return <>In the feed only: it is no change of the status.</>
  if (state === 'none')
    return <>Sent nowhere: no address was set, or the shop's style leaves this change out.</>
  if (acknowledged_at)
    return (
      <>
        <span aria-hidden="true">✓</span> Acknowledged <Time at={acknowledged_at} />, by try {tries}.
      </>
    )
  if (exhausted_at)
    return (
      <>
        <span aria-hidden="true">✕</span> Given up <Time at={exhausted_at} />, after {tries} tries.
      </>
    )
  if (isInFlight(notification, now)) return <>… Being sent at this moment.</>
  return (
    <>
      {tries === 0 ? 'Not tried yet.' : 'Not acknowledged yet.'}{' '}
      {notification.parked && 'It waits until the shop has recovered. '}
      {next_try_at && (
        <>
          Next try: <Time at={next_try_at} />.
        </>
      )}
    </>
  )
}

const Tries = ({ notification, now }: { notification: SentNotification; now: Date }) => {
  const written = notification.storedTries.map(one => one.try)
  const { lost, forgotten } = missingTries(notification, written, now)
  return (
    <>
      {notification.storedTries.length > 0 && (
        <table class="fold tries">
          <thead>
            <tr>
              <th>Try</th>
              <th>Sent</th>
              <th>Answer</th>
              <th class="r">Took</th>
            </tr>
          </thead>
          <tbody>
            {notification.storedTries.map(one => (
              <tr>
                <td>try {one.try}</td>
                <td>
                  <Time at={one.started_at} />
                </td>
                <td class={one.result === 'acknowledged' ? undefined : 'bad-ink'}>
                  {one.status !== null && `${one.status}: `}
                  {resultText(one.result)}
                  {one.words && `: ${withoutControls(one.words)}`}
                </td>
                <td class="r">{one.ms} ms</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {lost.length > 0 && <p class="small muted">The result of try {lost.join(', ')} could not be stored.</p>}
      {forgotten.length > 0 && (
        <p class="small muted">
          {forgotten.length} more: the result of a try is kept for {triesKeptDays} days.
        </p>
      )}
    </>
  )
}
