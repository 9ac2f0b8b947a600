import { readNotificationId } from '../../core/notification/notification.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import {
  findNotificationRow,
  lastNotificationLookedAt,
  listNotifications,
  listNotificationsOfFew,
  type NotificationFilter,
  type NotificationRow,
  notificationRowsOf,
} from '../../store/notifications/notificationList.ts'
import { type Try, triesOf, triesOfPayment } from '../../store/notifications/tries.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPayment } from '../../store/payments/paymentLife.ts'

const merchantIds = async (db: Db) => (await listMerchants(db)).map(({ merchant_id }) => merchant_id)

const mostLooked = 50_000 // of one merchant: an answer within a second, whatever is asked for

// `until`: there are older ones that were not looked at. Asked with it, the list goes on there.
export type NewestNotifications = { notifications: NotificationRow[]; until: Date | undefined }

// The newest of one merchant, or of all.
export async function newestNotifications(
  db: Db,
  { merchant_id, ...filter }: NotificationFilter & { merchant_id?: string },
  most = mostLooked,
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
    .filter(({ created_at }) => until === undefined || created_at >= until) // the others come with the rest
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
  const isCut = until !== undefined && notifications.length < filter.limit
  return { notifications: notifications.slice(0, filter.limit), until: isCut ? until : undefined }
}

// A look that was cut short ends behind the whole millisecond of its last one, of which there may be more.
async function newestOf(db: Db, merchant_id: string, filter: NotificationFilter, most: number) {
  const few = await listNotificationsOfFew(db, merchant_id, filter, most)
  const found = few ?? (await listNotifications(db, merchant_id, filter, most))
  if (few || found.length >= filter.limit) return { found, last: undefined }
  const last = await lastNotificationLookedAt(db, merchant_id, filter, most)
  return { found, last: last && new Date(last.getTime() + 1) }
}

export const notificationsOf = (db: Db, payment: Payment) => notificationRowsOf(db, payment)

// By its id, as merchants and logs have it. Undefined when there is none.
export async function findNotification(db: Db, id: string) {
  const key = isPlainText(id) ? readNotificationId(id) : undefined
  return key && findNotificationRow(db, await merchantIds(db), key)
}

export type ExplainedNotification = NotificationRow & {
  body: string
  merchant_name: string
  invoice_id: string
  written: Try[]
}

export type SentNotification = NotificationRow & { written: Try[] }

// All that a merchant was told of a payment, each with every try that is written down.
export async function sentNotificationsOf(db: Db, payment: PaymentKey): Promise<SentNotification[]> {
  const [told, tries] = await Promise.all([notificationRowsOf(db, payment), triesOfPayment(db, payment)])
  return told.map(one => ({ ...one, written: tries.filter(({ sequence }) => sequence === one.sequence) }))
}

// A notification with every try that is written down.
export async function explainNotification(db: Db, id: string): Promise<ExplainedNotification | undefined> {
  const told = await findNotification(db, id)
  if (!told) return undefined
  const [written, payment] = await Promise.all([triesOf(db, told), findPayment(db, told)])
  return {
    ...told,
    written,
    merchant_name: payment?.merchant_name ?? '',
    invoice_id: payment?.invoice_id ?? '',
  }
}
