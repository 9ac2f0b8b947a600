import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import { FormToken } from '../../core/markup/page.tsx'
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

type ShopProps = { notifications: readonly SentNotification[]; now: Date; formToken: string }

// The notifications to the shop, with every try, and for each a button to send it again.
export const ShopNotifications = ({ notifications, now, formToken }: ShopProps) => (
  <section class="card">
    <h2>Notifications to the shop</h2>
    {notifications.length === 0 && <p>Nothing yet: the first notification comes when the status changes.</p>}
    {notifications.map(one => (
      <Notification notification={one} now={now} formToken={formToken} />
    ))}
    {hintsFor(notifications.map(({ last_result }) => last_result)).map(hint => (
      <p class="warn hint">{hint}</p>
    ))}
  </section>
)

type NotificationProps = { notification: SentNotification; now: Date; formToken: string }

const Notification = ({ notification, now, formToken }: NotificationProps) => (
  <article class="record">
    <h3>
      {(isFeedOnly(notification) ? notification.type : notification.status)?.replace('_', ' ')}{' '}
      <span class="muted">{notificationId(notification)}</span>
    </h3>
    {notification.url !== null && <p class="muted">To {withoutQuery(withoutControls(notification.url))}</p>}
    <p>
      <DeliveryState notification={notification} now={now} />
    </p>
    <Tries notification={notification} now={now} />
    {!isInFlight(notification, now) && !isFeedOnly(notification) && (
      <Redeliver notification={notification} formToken={formToken} />
    )}
  </article>
)

// Refunds and disputes do not change the status. The shop reads them in its feed.
const isFeedOnly = ({ type }: SentNotification) => type !== undefined && type !== 'status'

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
        <ol class="moments">
          {notification.storedTries.map(one => (
            <li value={one.try}>
              <span class="when">
                <Time at={one.started_at} />
              </span>
              <span class="who">
                try {one.try}, {one.status === null ? 'no status' : `status ${one.status}`}, {one.ms} ms
              </span>
              <span class="words">
                {resultText(one.result)}
                {one.words && `: ${withoutControls(one.words)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {lost.length > 0 && <p class="muted">The result of try {lost.join(', ')} could not be stored.</p>}
      {forgotten.length > 0 && (
        <p class="muted">
          {forgotten.length} more: the result of a try is kept for {triesKeptDays} days.
        </p>
      )}
    </>
  )
}

// The form has the time at which the delivery began. After the first press the stored time differs, so a second press
// changes nothing.
const Redeliver = ({
  notification: { merchant_id, tx_reference, sequence, begun_at },
  formToken,
}: Omit<NotificationProps, 'now'>) => (
  <form method="post" action="/support/redeliver">
    <FormToken token={formToken} />
    <input type="hidden" name="merchant" value={merchant_id} />
    <input type="hidden" name="reference" value={tx_reference} />
    <input type="hidden" name="sequence" value={sequence} />
    <input type="hidden" name="seen" value={begun_at?.toISOString() ?? ''} />
    <button type="submit" class="second">
      Send notification {sequence} again
    </button>
  </form>
)
