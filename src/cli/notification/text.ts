import { deliveryState, type DeliverySummary, isInFlight } from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import type { NotificationRow } from '../../store/notifications/notificationList.ts'
import { dateTime, table } from '../terminal.ts'

// A notification as programs read it.
export const notificationData = (told: NotificationRow) => ({
  id: notificationId(told),
  merchant_id: told.merchant_id,
  tx_reference: told.tx_reference,
  sequence: told.sequence,
  mode: told.mode,
  status: told.status,
  type: told.type,
  created_at: told.created_at,
  state: deliveryState(told),
  url: told.url,
  style: told.style,
  begun_at: told.begun_at,
  tries: told.tries ?? 0,
  last_try_at: told.last_try_at,
  last_result: told.last_result,
  next_try_at: told.next_try_at,
  acknowledged_at: told.acknowledged_at,
  exhausted_at: told.exhausted_at,
})

export function notificationTable(all: readonly NotificationRow[], now: Date): string {
  const titles = ['TIME (UTC)', 'ID', 'STATUS', 'STATE', 'TRIES', 'LAST RESULT', 'NEXT TRY']
  return table(
    titles.map(title => ({ title, right: title === 'TRIES' })),
    all.map(told => [
      dateTime(told.created_at).slice(0, 16),
      notificationId(told),
      what(told),
      ...progress(told),
      nextTry(told, now),
    ]),
  )
}

// Without what the payment around it says already.
export function shortTable(all: readonly NotificationRow[], now: Date): string {
  const titles = ['ID', 'STATUS', 'STATE', 'TRIES', 'LAST RESULT', 'NEXT TRY']
  return table(
    titles.map(title => ({ title, right: title === 'TRIES' })),
    all.map(told => [notificationId(told), what(told), ...progress(told), nextTry(told, now)]),
  )
}

// A refund or a dispute is no change of the status.
const what = ({ type, status }: NotificationRow) => (type === undefined || type === 'status' ? status : type)

const progress = (told: NotificationRow) => [
  deliveryState(told),
  String(told.tries ?? 0),
  told.last_result ?? '',
]

export function nextTry(journey: DeliverySummary, now: Date): string {
  if (journey.next_try_at === null) return ''
  return isInFlight(journey, now) ? 'under way' : inWords(journey.next_try_at.getTime() - now.getTime())
}

// As a person would say it, in the largest unit that fits.
export function inWords(ms: number): string {
  if (ms <= 0) return 'now'
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
  ] as const
  const [unit, size] = units.find(([, least]) => ms >= least) ?? (['s', 1000] as const)
  return `in ${Math.round(ms / size)} ${unit}`
}
