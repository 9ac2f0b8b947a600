import { notificationBody } from '../../src/core/notification.ts'
import type { Db, Tx } from '../../src/store/db.ts'
import { addNotification, type Destination } from '../../src/store/notifications.ts'
import type { NewNotification } from '../../src/store/notifications.ts'
import { aPayment } from './lifeRows.ts'
import { sign } from './merchant.ts'

// Notifications straight into the tables, for tests of what becomes of them later.
let counted = 0
export const newReference = () => `TG-TEST-${process.pid}-${++counted}`

export const aNotification = (
  changed: Partial<NewNotification> & { merchant_id: string },
): NewNotification => {
  const tx_reference = changed.tx_reference ?? newReference()
  const status = changed.status ?? 'paid'
  const payment = aPayment({ tx_reference, status, invoice_id: tx_reference.slice(-20) })
  return {
    tx_reference,
    mode: 'test',
    status,
    body: notificationBody(payment, 'post'),
    created_at: new Date(),
    ...changed,
  }
}

export const destination: Destination = {
  url: 'https://shop.example/ipn',
  lane: 'https://shop.example:443',
  style: 'post',
}

export async function tellOf(
  tx: Tx | Db,
  changed: Partial<NewNotification> & { merchant_id: string },
  to?: Destination,
) {
  const made = aNotification(changed)
  const added = await addNotification(tx, made, to)
  return { ...made, sequence: added?.sequence ?? 0 }
}

// The question of a merchant that follows its events, signed as the page for merchants says.
export function feedQuestion(
  keys: { merchant_key: string; secret_key: string },
  after?: string,
  limit?: number,
) {
  const { merchant_key, secret_key } = keys
  return {
    merchant_key,
    secure_hash: sign(secret_key, `after=${after ?? ''}&merchant_key=${merchant_key}`),
    ...(after !== undefined && { after }),
    ...(limit !== undefined && { limit: String(limit) }),
  }
}
