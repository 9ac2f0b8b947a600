import { notificationBody } from '../../../src/core/notification/notification.ts'
import type { Db, Tx } from '../../../src/store/db.ts'
import type { NewNotification } from '../../../src/store/notifications/notifications.ts'
import { addNotification, type Destination } from '../../../src/store/notifications/notifications.ts'
import { aPayment } from '../payments/rows.ts'
import { send, sign } from '../merchant/merchant.ts'

// Stores notifications directly, for tests of their delivery.
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

export async function storeNotification(
  tx: Tx | Db,
  changed: Partial<NewNotification> & { merchant_id: string },
  to?: Destination,
) {
  const made = aNotification(changed)
  const added = await addNotification(tx, made, to)
  return { ...made, sequence: added?.sequence ?? 0 }
}

type Keys = { merchant_key: string; secret_key: string }
export type FeedQuestion = Record<string, string>

export const feedQuestion = ({ merchant_key }: Keys, after?: string, limit?: number): FeedQuestion => ({
  merchant_key,
  ...(after !== undefined && { after }),
  ...(limit !== undefined && { limit: String(limit) }),
})

// Signs a request for the event feed as the documentation for merchants describes.
export function feedSignature({ secret_key }: Keys, question: FeedQuestion, at: Date | number = new Date()) {
  const { merchant_key, after = '', limit = '' } = question
  const t = Math.floor(Number(at) / 1000)
  return `t=${t},v1=${sign(secret_key, `${t}.${merchant_key}.${after}.${limit}`)}`
}

export const askFeed = (url: string, question: FeedQuestion, signature?: string) =>
  send(`${url}/v1/events?${new URLSearchParams(question).toString()}`, {
    headers: signature === undefined ? {} : { 'x-tollgate-signature': signature },
  })

export const followFeed = (url: string, keys: Keys, after?: string, limit?: number) => {
  const question = feedQuestion(keys, after, limit)
  return askFeed(url, question, feedSignature(keys, question))
}
