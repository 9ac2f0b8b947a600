import type { SentNotification } from '../../../actions/notifications/findNotifications.ts'
import { FormToken } from '../../../core/markup/page.tsx'
import {
  deliveryState,
  hintsFor,
  isInFlight,
  missingTries,
  resultText,
  triesKeptDays,
} from '../../../core/notification/delivery.ts'
import { notificationId } from '../../../core/notification/notification.ts'
import { withoutControls } from '../../../core/timeline/history.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import { localTime } from '../../../core/zone.ts'
import { Pill } from '../../pages/operatorPage.tsx'
import { Clock, dayOf, type PaymentPageProps, pathOf } from './paymentParts.tsx'
import { paymentTexts } from './paymentTexts.ts'

// The notifications to the shop with every stored try.
export const NotificationsCard = (props: PaymentPageProps) => {
  const { visit, details } = props
  const texts = paymentTexts[visit.lang]
  return (
    <section class="card">
      <header>
        <h2>{texts.notifications}</h2>
      </header>
      {details.notifications.length === 0 && <p class="empty">{texts.noNotifications}</p>}
      {details.notifications.toReversed().map(notification => (
        <OneNotification {...props} notification={notification} />
      ))}
      {hintsFor(
        details.notifications.map(({ last_result }) => last_result),
        visit.lang,
      ).map(hint => (
        <p class="small muted">{hint}</p>
      ))}
    </section>
  )
}

type NotificationProps = PaymentPageProps & { notification: SentNotification }

// The query may hold a secret of the merchant.
const withoutQuery = (url: string) => withoutControls(url).replace(/[?#].*$/s, '')

const isStatus = ({ type }: SentNotification) => type === undefined || type === 'status'
const isFeedOnly = (one: SentNotification) => !isStatus(one) && one.url === null

const OneNotification = (props: NotificationProps) => {
  const { visit, notification } = props
  const { url, status, type } = notification
  const names: Readonly<Record<string, string>> = paymentTexts[visit.lang].notificationNames
  const word = (isStatus(notification) ? status : type) ?? ''
  const name = names[word] ?? word.replaceAll('_', ' ')
  return (
    <article class="record">
      <div class="row">
        <h3>
          {name} <span class="small muted">{notificationId(notification)}</span>
        </h3>
        <DeliveryPill {...props} />
      </div>
      {url !== null && <p class="small muted">{withoutQuery(url)}</p>}
      <Tries {...props} />
      {!isInFlight(notification, visit.now) &&
        !isFeedOnly(notification) &&
        visit.may('payments.redeliver') && <RedeliverButton {...props} />}
    </article>
  )
}

const DeliveryPill = ({ visit, notification, timeZone }: NotificationProps) => {
  const texts = paymentTexts[visit.lang]
  const { acknowledged_at, exhausted_at, next_try_at } = notification
  if (isFeedOnly(notification)) return <span class="small muted">{texts.feedOnly}</span>
  if (deliveryState(notification) === 'none') return <span class="small muted">{texts.sentNowhere}</span>
  if (acknowledged_at) return <Pill tone="ok">{texts.acknowledged}</Pill>
  if (exhausted_at) return <Pill tone="bad">{texts.givenUp}</Pill>
  if (isInFlight(notification, visit.now)) return <Pill tone="wait">{texts.beingSent}</Pill>
  const time = next_try_at && localTime(next_try_at, timeZone).time.slice(0, 5)
  return <Pill tone="wait">{time ? fill(texts.nextTry, { time }) : texts.notYet}</Pill>
}

const Tries = (props: NotificationProps) => {
  const { visit, notification, timeZone } = props
  const texts = paymentTexts[visit.lang]
  const { storedTries } = notification
  const { lost, forgotten } = missingTries(
    notification,
    storedTries.map(one => one.try),
    visit.now,
  )
  return (
    <>
      {storedTries.length > 0 && (
        <table class="fold tries">
          <thead>
            <tr>
              <th>{texts.try}</th>
              <th>{texts.sent}</th>
              <th>{texts.answer}</th>
              <th class="r">{texts.took}</th>
            </tr>
          </thead>
          <tbody>
            {storedTries.toReversed().map(one => (
              <tr>
                <td>
                  {texts.try} {one.try}
                </td>
                <td class="num nowrap">
                  <Clock at={one.started_at} day={dayOf(props)} visit={visit} timeZone={timeZone} />
                </td>
                <td class={one.result === 'acknowledged' ? undefined : 'bad-ink'}>
                  {one.status !== null && `${one.status}: `}
                  {resultText(one.result, visit.lang)}
                  {one.words &&
                    fill(texts.because, { reason: storedText(withoutControls(one.words), visit.lang) })}
                </td>
                <td class="r">{one.ms} ms</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {lost.length > 0 && <p class="small muted">{fill(texts.lost, { tries: lost.join(', ') })}</p>}
      {forgotten.length > 0 && (
        <p class="small muted">{fill(texts.forgotten, { count: forgotten.length, days: triesKeptDays })}</p>
      )}
    </>
  )
}

// The form has the time at which the delivery began. After the first press the stored time differs, so a second press
// changes nothing.
export const RedeliverButton = ({
  visit,
  details,
  notification,
  isMain,
}: NotificationProps & { isMain?: boolean }) => {
  const texts = paymentTexts[visit.lang]
  const { sequence, begun_at } = notification
  return (
    <form method="post" action={`${pathOf(visit, details)}/redeliver`}>
      <FormToken token={visit.formToken} />
      <input type="hidden" name="sequence" value={sequence} />
      <input type="hidden" name="seen" value={begun_at?.toISOString() ?? ''} />
      <button type="submit" class={isMain ? 'btn' : 'btn plain small'}>
        {isMain ? texts.sendAgain : fill(texts.sendNumber, { number: sequence })}
      </button>
    </form>
  )
}
