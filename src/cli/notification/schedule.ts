import { deliveryState, isInFlight } from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { deliveryWindowMs, offsets } from '../../core/notification/schedule.ts'
import type { NotificationRow } from '../../store/notifications/notificationList.ts'
import { dateTime } from '../terminal.ts'
import { inWords } from './text.ts'

// How the delivery goes, in plain words.
export function scheduleWords(told: NotificationRow, now: Date): string {
  const redeliver = `tollgate notification redeliver ${notificationId(told)}`
  const { acknowledged_at, exhausted_at } = told
  const state = deliveryState(told)
  if (state === 'none') return notSent(told, redeliver)
  if (state === 'acknowledged' && acknowledged_at)
    return `Acknowledged ${dateTime(acknowledged_at)}, by try ${told.tries}.`
  if (state === 'exhausted' && exhausted_at)
    return `Exhausted ${dateTime(exhausted_at)}, after ${times(told)}.\nSend it again: ${redeliver}`
  return `${told.tries === 0 ? 'Not tried yet.' : `${capital(times(told))} so far.`}\n${comingWords(told, now)}`
}

const notSent = ({ status, merchant_id }: NotificationRow, redeliver: string) =>
  status === 'awaiting_payment'
    ? `Sent nowhere: no ipn_url was known, or ipn_style was basic, which leaves out awaiting_payment.`
    : `Sent nowhere: no ipn_url was known.\nTo send it after all: tollgate merchant set ${merchant_id} ` +
      `ipn_url=URL, then ${redeliver}`

const times = ({ tries }: NotificationRow) => (tries === 1 ? '1 try' : `${tries} tries`)
const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

function comingWords(told: NotificationRow, now: Date): string {
  const { next_try_at, begun_at, parked } = told
  if (isInFlight(told, now)) return 'Another is on its way now.'
  if (!next_try_at || !begun_at) return ''
  const when =
    next_try_at <= now ? 'now' : `${dateTime(next_try_at)}, ${inWords(next_try_at.getTime() - now.getTime())}`
  const end = dateTime(new Date(begun_at.getTime() + deliveryWindowMs))
  const until = `At most ${offsets.length} since ${dateTime(begun_at)}; exhausted by ${end}.`
  return parked
    ? `It waits until its endpoint has recovered, and is tried at the latest ${when}.\n${until}`
    : `The next is ${when}.\n${until}`
}
