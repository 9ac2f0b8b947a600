import type { LivingPayment } from '../core/payment.ts'
import { readNotificationId } from '../core/notification.ts'
import { isPlainText } from '../core/text.ts'
import type { Db } from '../store/db.ts'
import { listMerchants } from '../store/merchants.ts'
import { findTold, listTold, type Told, type ToldFilter, toldOf } from '../store/notificationList.ts'
import { findPayment } from '../store/paymentLife.ts'
import { type Try, triesOf } from '../store/tries.ts'

const merchantIds = async (db: Db) => (await listMerchants(db)).map(({ merchant_id }) => merchant_id)

// The newest of one merchant, or of all.
export async function newestNotifications(
  db: Db,
  { merchant_id, ...filter }: ToldFilter & { merchant_id?: string },
) {
  const lists: Told[][] = []
  for (const id of merchant_id ? [merchant_id] : await merchantIds(db))
    lists.push(await listTold(db, id, filter))
  return lists
    .flat()
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
    .slice(0, filter.limit)
}

export const notificationsOf = (db: Db, payment: LivingPayment) => toldOf(db, payment)

// By its id, as merchants and logs have it. Undefined when there is none.
export async function findNotification(db: Db, id: string) {
  const key = isPlainText(id) ? readNotificationId(id) : undefined
  return key && findTold(db, await merchantIds(db), key)
}

export type ExplainedNotification = Told & {
  body: string
  merchant_name: string
  invoice_id: string
  written: Try[]
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
