import type { Try } from '../../core/notification/delivery.ts'
import { readNotificationId } from '../../core/notification/notification.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { deliveryStats } from '../../store/notifications/deliveries.ts'
import {
  findNotificationRow,
  lastNotificationRead,
  listNotifications,
  listNotificationsOfFew,
  type NotificationFilter,
  type NotificationRow,
  notificationRowsOf,
} from '../../store/notifications/notificationList.ts'
import { triesOf, triesOfPayment } from '../../store/notifications/tries.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPayment } from '../../store/payments/paymentLife.ts'

const merchantIds = async (db: Db) => (await listMerchants(db)).map(({ merchant_id }) => merchant_id)

const maxRead = 50_000 // rows of one merchant: any query answers within a second

// `until`: there are older notifications that were not read. A query with this `until` continues there.
type NewestNotifications = { notifications: NotificationRow[]; until: Date | undefined }

// The newest of one merchant, or of all.
export async function newestNotifications(
  db: Db,
  { merchant_id, ...filter }: NotificationFilter & { merchant_id?: string },
  most = maxRead,
): Promise<NewestNotifications> {
  const lists: NotificationRow[][] = []
  let until: Date | undefined
  for (const id of merchant_id ? [merchant_id] : await merchantIds(db)) {
    const { found, last } = await newestOf(db, id, filter, most)
    lists.push(found)
    if (last && (until === undefined || last > until)) until = last
  }
  const notifications = lists
    .flat()
    .filter(({ created_at }) => until === undefined || created_at >= until) // the rest is on the next page
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
  const isCut = until !== undefined && notifications.length < filter.limit
  return { notifications: notifications.slice(0, filter.limit), until: isCut ? until : undefined }
}

// A query that has read `most` rows ends behind the whole millisecond of its last row, because other rows may have the
// same time.
async function newestOf(db: Db, merchant_id: string, filter: NotificationFilter, most: number) {
  const few = await listNotificationsOfFew(db, merchant_id, filter, most)
  const found = few ?? (await listNotifications(db, merchant_id, filter, most))
  if (few || found.length >= filter.limit) return { found, last: undefined }
  const last = await lastNotificationRead(db, merchant_id, filter, most)
  return { found, last: last && new Date(last.getTime() + 1) }
}

// By its public id. Returns undefined if there is none.
export async function findNotification(db: Db, id: string) {
  const key = isPlainText(id) ? readNotificationId(id) : undefined
  return key && findNotificationRow(db, await merchantIds(db), key)
}

export type ExplainedNotification = NotificationRow & {
  body: string
  merchant_name: string
  invoice_id: string
  storedTries: Try[]
}

export type SentNotification = NotificationRow & { storedTries: Try[] }

// All notifications of a payment, each with its stored tries. A try is counted before it is sent and stored after it, so
// the tries are read last: a result that is saved between the two reads is found, and no try looks lost.
export async function sentNotificationsOf(db: Db, payment: PaymentKey): Promise<SentNotification[]> {
  const rows = await notificationRowsOf(db, payment)
  const tries = await triesOfPayment(db, payment)
  return rows.map(row => ({ ...row, storedTries: tries.filter(({ sequence }) => sequence === row.sequence) }))
}

// A notification with its stored tries.
export async function explainNotification(db: Db, id: string): Promise<ExplainedNotification | undefined> {
  const row = await findNotification(db, id)
  if (!row) return undefined
  const [storedTries, payment] = await Promise.all([triesOf(db, row), findPayment(db, row)])
  return {
    ...row,
    storedTries,
    merchant_name: payment?.merchant_name ?? '',
    invoice_id: payment?.invoice_id ?? '',
  }
}

export type DeliveryCounts = { due: number; parked: number; oldest_due_seconds: number }

export async function countDeliveries(db: Db, now: Date): Promise<DeliveryCounts> {
  const { due, parked, oldest_due_at } = await deliveryStats(db, now)
  const oldest_due_seconds = oldest_due_at ? Math.max(0, (now.getTime() - oldest_due_at.getTime()) / 1000) : 0
  return { due, parked, oldest_due_seconds }
}
