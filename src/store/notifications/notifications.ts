import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import { named, type Tx } from '../db.ts'

export type NewNotification = Omit<Notification, 'sequence'>
export type Destination = { url: string; lane: string; style: IpnStyle }

// The notification, and where it goes the delivery that is due at once; then no other of the payment is alone any more.
// The payment's row is locked by the caller, so no two count at once.
export const addNotification = (tx: Tx, n: NewNotification, to: Destination | undefined) =>
  tx.one<Pick<NotificationKey, 'sequence'>>(named('add_notification')`
    with told as (
      insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
      select ${n.merchant_id}, ${n.tx_reference}, coalesce(max(sequence), 0) + 1, ${n.mode}, ${n.status}, ${n.body},
        ${n.created_at}::timestamptz
      from notifications where merchant_id = ${n.merchant_id} and tx_reference = ${n.tx_reference}
      returning sequence),
    others as (
      update deliveries set alone = false
      where merchant_id = ${n.merchant_id} and tx_reference = ${n.tx_reference} and next_try_at is not null
        and ${to !== undefined}
      returning 1),
    sent as (
      insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
        next_try_at, alone)
      select ${n.merchant_id}, ${n.tx_reference}, sequence, ${n.mode}, ${to?.url ?? ''}, ${to?.lane ?? ''},
        ${to?.style ?? 'post'}, ${n.created_at}, ${n.created_at}, ${n.created_at},
        not exists (select from others)
      from told where ${to !== undefined})
    select sequence from told`)
