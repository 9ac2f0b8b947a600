import type { NotificationKey } from '../../core/notification/notification.ts'
import { sql, type Tx } from '../db.ts'
import { paymentKeysOf, paymentName } from '../payments/paymentKeys.ts'
import { keysOf } from './notificationKeys.ts'
import { addNotification, type Destination, type NewNotification } from './notifications.ts'

export type Telling = { notification: NewNotification; to: Destination | undefined }
type Sending = { key: NotificationKey; notification: NewNotification; to: Destination; alone: boolean }

// What `addNotification` does for one, for one each of many payments: a statement for each table, whoever the merchants
// are. One alone is quicker by itself.
export async function addNotifications(tx: Tx, all: readonly Telling[]): Promise<void> {
  const [first, ...more] = all
  if (first && more.length > 0) await addMany(tx, all)
  else if (first) await addNotification(tx, first.notification, first.to)
}

async function addMany(tx: Tx, all: readonly Telling[]) {
  const sequences = await insertNotifications(
    tx,
    all.map(({ notification }) => notification),
  )
  const sent = all.flatMap(({ notification, to }) => (to ? [{ notification, to }] : []))
  if (sent.length === 0) return
  const others = await leaveAlone(
    tx,
    sent.map(({ notification }) => notification),
  )
  const sendings = sent.map(({ notification, to }) => ({
    key: { ...notification, sequence: sequences.get(paymentName(notification)) as number },
    notification,
    to,
    alone: !others.has(paymentName(notification)),
  }))
  await insertDeliveries(tx, sendings)
}

async function insertNotifications(tx: Tx, told: readonly NewNotification[]): Promise<Map<string, number>> {
  const { merchants, references } = paymentKeysOf(told)
  const added = await tx.rows<NotificationKey>(sql`
    insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
    select n.merchant_id, n.tx_reference, coalesce(last.sequence, 0) + 1, n.mode, n.status, n.body, n.created_at
    from unnest(${merchants}::text[], ${references}::text[], ${told.map(n => n.mode)}::text[],
        ${told.map(n => n.status)}::text[], ${told.map(n => n.body)}::text[],
        ${told.map(n => n.created_at)}::timestamptz[])
        as n (merchant_id, tx_reference, mode, status, body, created_at)
      left join (select k.merchant_id, k.tx_reference, max(o.sequence) as sequence
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join notifications o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
          group by k.merchant_id, k.tx_reference) as last
        on last.merchant_id = n.merchant_id and last.tx_reference = n.tx_reference
    returning merchant_id, tx_reference, sequence`)
  return new Map(added.map(key => [paymentName(key), key.sequence]))
}

// Gives back the payments that have other deliveries which have not ended.
async function leaveAlone(tx: Tx, told: readonly NewNotification[]): Promise<Set<string>> {
  const { merchants, references } = paymentKeysOf(told)
  const others = await tx.rows<NotificationKey>(sql`
    update deliveries d set alone = false
    from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.next_try_at is not null
    returning d.merchant_id, d.tx_reference`)
  return new Set(others.map(paymentName))
}

function insertDeliveries(tx: Tx, all: readonly Sending[]) {
  const { merchants, references, sequences } = keysOf(all.map(({ key }) => key))
  return tx.rows(sql`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      next_try_at, alone)
    select merchant_id, tx_reference, sequence, mode, url, lane, style, at, at, at, alone::boolean
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${all.map(one => one.notification.mode)}::text[], ${all.map(one => one.to.url)}::text[],
        ${all.map(one => one.to.lane)}::text[], ${all.map(one => one.to.style)}::text[],
        ${all.map(one => one.notification.created_at)}::timestamptz[],
        ${all.map(one => String(one.alone))}::text[])
      as d (merchant_id, tx_reference, sequence, mode, url, lane, style, at, alone)`)
}
