import type { ToldNotification } from '../../actions/notifications/findNotifications.ts'
import {
  deliveryState,
  hintsFor,
  isOnItsWay,
  missingTries,
  resultWords,
  triesKeptDays,
} from '../../core/notification/deliveryWords.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { plainWords } from '../../core/story/story.ts'
import { FormToken } from '../http/formToken.tsx'
import { Time } from './time.tsx'

type ToldProps = { told: readonly ToldNotification[]; now: Date; formToken: string }

// What the shop was told: each notification, every try, and a button to send it again.
export const ToldShop = ({ told, now, formToken }: ToldProps) => (
  <section class="card">
    <h2>What the shop was told</h2>
    {told.length === 0 && <p>Nothing yet: the first notification comes when the status changes.</p>}
    {told.map(one => (
      <Telling told={one} now={now} formToken={formToken} />
    ))}
    {hintsFor(told.map(({ last_result }) => last_result)).map(hint => (
      <p class="warn hint">{hint}</p>
    ))}
  </section>
)

type TellingProps = { told: ToldNotification; now: Date; formToken: string }

const Telling = ({ told, now, formToken }: TellingProps) => (
  <article class="told">
    <h3>
      {(isFeedOnly(told) ? told.type : told.status)?.replace('_', ' ')}{' '}
      <span class="muted">{notificationId(told)}</span>
    </h3>
    {told.url !== null && <p class="muted">To {withoutQuery(plainWords(told.url))}</p>}
    <p>
      <Standing told={told} now={now} />
    </p>
    <Tries told={told} now={now} />
    {!isOnItsWay(told, now) && !isFeedOnly(told) && <Redeliver told={told} formToken={formToken} />}
  </article>
)

// Refunds and disputes are no change of the status: the shop reads them in its feed.
const isFeedOnly = ({ type }: ToldNotification) => type !== undefined && type !== 'status'

// What stands behind the question mark may be a secret of the merchant's.
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')

const Standing = ({ told, now }: { told: ToldNotification; now: Date }) => {
  const { acknowledged_at, exhausted_at, next_try_at, tries } = told
  const state = deliveryState(told)
  if (isFeedOnly(told)) return <>In the feed only: it is no change of the status.</>
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
  if (isOnItsWay(told, now)) return <>… Being sent at this moment.</>
  return (
    <>
      {tries === 0 ? 'Not tried yet.' : 'Not acknowledged yet.'}{' '}
      {told.held && 'It waits until the shop has recovered. '}
      {next_try_at && (
        <>
          Next try: <Time at={next_try_at} />.
        </>
      )}
    </>
  )
}

const Tries = ({ told, now }: { told: ToldNotification; now: Date }) => {
  const written = told.written.map(one => one.try)
  const { lost, forgotten } = missingTries(told, written, now)
  return (
    <>
      {told.written.length > 0 && (
        <ol class="moments">
          {told.written.map(one => (
            <li value={one.try}>
              <span class="when">
                <Time at={one.started_at} />
              </span>
              <span class="who">
                try {one.try}, {one.status === null ? 'no status' : `status ${one.status}`}, {one.ms} ms
              </span>
              <span class="words">
                {resultWords(one.result)}
                {one.words && `: ${plainWords(one.words)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {lost.length > 0 && <p class="muted">What came of try {lost.join(', ')} could not be written down.</p>}
      {forgotten.length > 0 && (
        <p class="muted">
          {forgotten.length} more: what came of a try is kept for {triesKeptDays} days.
        </p>
      )}
    </>
  )
}

// Carries when the delivery was begun, so that a second press finds it changed.
const Redeliver = ({
  told: { merchant_id, tx_reference, sequence, begun_at },
  formToken,
}: Omit<TellingProps, 'now'>) => (
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
