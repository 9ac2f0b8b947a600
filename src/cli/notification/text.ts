import { deliveryState, type DeliverySummary, isInFlight } from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import type { NotificationRow } from '../../store/notifications/notificationList.ts'
import { dateTime, table } from '../terminal.ts'

export const notificationData = (notification: NotificationRow) => ({
  id: notificationId(notification),
  merchant_id: notification.merchant_id,
  tx_reference: notification.tx_reference,
  sequence: notification.sequence,
  mode: notification.mode,
  status: notification.status,
  type: notification.type,
  created_at: notification.created_at,
  state: deliveryState(notification),
  url: notification.url,
  style: notification.style,
  begun_at: notification.begun_at,
  tries: notification.tries ?? 0,
  last_try_at: notification.last_try_at,
  last_result: notification.last_result,
  next_try_at: notification.next_try_at,
  acknowledged_at: notification.acknowledged_at,
  exhausted_at: notification.exhausted_at,
})

const columns = ['ID', 'STATUS', 'STATE', 'TRIES', 'LAST RESULT', 'NEXT TRY']

export const notificationTable = (notifications: readonly NotificationRow[], now: Date) =>
  table(
    ['TIME (UTC)', ...columns],
    notifications.map(one => [dateTime(one.created_at).slice(0, 16), ...cellsOf(one, now)]),
    ['TRIES'],
  )

// The notifications of one payment.
export const shortNotificationTable = (notifications: readonly NotificationRow[], now: Date) =>
  table(
    columns,
    notifications.map(one => cellsOf(one, now)),
    ['TRIES'],
  )

const cellsOf = (notification: NotificationRow, now: Date) => [
  notificationId(notification),
  statusOrType(notification),
  deliveryState(notification),
  notification.tries ?? 0,
  notification.last_result,
  nextTryText(notification, now),
]

// A refund or a dispute does not change the status.
const statusOrType = ({ type, status }: NotificationRow) =>
  type === undefined || type === 'status' ? status : type

function nextTryText(delivery: DeliverySummary, now: Date): string {
  if (delivery.next_try_at === null) return ''
  return isInFlight(delivery, now) ? 'under way' : timeUntil(delivery.next_try_at.getTime() - now.getTime())
}

// Rounded to the largest unit that fits.
export function timeUntil(ms: number): string {
  if (ms <= 0) return 'now'
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
  ] as const
  const [unit, size] = units.find(([, least]) => ms >= least) ?? (['s', 1000] as const)
  return `in ${Math.round(ms / size)} ${unit}`
}
