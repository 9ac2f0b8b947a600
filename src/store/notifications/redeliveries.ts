import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { DeliveryState } from '../../core/notification/delivery.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { type Query, sql, type Tx } from '../db.ts'
import { stateIs } from './notificationList.ts'
import type { Destination } from './notifications.ts'

// A notification that may be sent again: a change of the status, or a refund that was delivered before, with the address of its last delivery and the address of its payment.
export type Redeliverable = Omit<Notification, 'body'> & {
  url: UntrustedUrl | null
  style: IpnStyle | null
  payment_url: UntrustedUrl | null
  invoice_id: string | null
  body: string | null // only if it has no delivery
}

const redeliverable = (where: Query) => sql`
  select n.merchant_id, n.tx_reference, n.sequence, n.mode, n.status, n.created_at, d.url, d.style,
    p.ipn_url as payment_url, p.invoice_id, case when d.url is null then n.body end as body
  from notifications n
    left join deliveries d on d.merchant_id = n.merchant_id and d.tx_reference = n.tx_reference
      and d.sequence = n.sequence
    left join payments p on p.merchant_id = n.merchant_id and p.tx_reference = n.tx_reference
  where (n.type = 'status' or d.url is not null) and ${where}`

export const findRedeliverable = (tx: Tx, { merchant_id, tx_reference, sequence }: NotificationKey) =>
  tx.one<Redeliverable>(
    redeliverable(sql`n.merchant_id = ${merchant_id} and n.tx_reference = ${tx_reference}
      and n.sequence = ${sequence}`),
  )

// When the delivery of a notification was begun; null if it has none. No delivery begins while the payment is locked.
export async function lockBegunAt(tx: Tx, { merchant_id, tx_reference, sequence }: NotificationKey) {
  await tx.rows(sql`
    select from payments where merchant_id = ${merchant_id} and tx_reference = ${tx_reference} for update`)
  const delivery = await tx.one<{ begun_at: Date }>(sql`
    select begun_at from deliveries where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and sequence = ${sequence}`)
  return delivery?.begun_at ?? null
}

export type RedeliveryRange = { merchant_id: string; from: Date; until: Date; state: DeliveryState | 'all' }
export type RedeliveryCursor = Pick<Notification, 'created_at' | 'tx_reference' | 'sequence'>

// The next page behind a cursor, oldest first, `until` not included.
export const redeliverablesAfter = (
  tx: Tx,
  { merchant_id, until, state }: RedeliveryRange,
  after: RedeliveryCursor,
  limit: number,
) =>
  tx.rows<Redeliverable>(sql`
    ${redeliverable(sql`n.merchant_id = ${merchant_id} and ${state === 'all' ? sql`true` : stateIs[state]}
      and n.created_at >= ${after.created_at} and n.created_at < ${until}
      and (n.created_at, n.tx_reference, n.sequence) > (${after.created_at}, ${after.tx_reference},
        ${after.sequence})`)}
    order by n.created_at, n.tx_reference, n.sequence limit ${limit}`)

export type Redelivery = Omit<Notification, 'body' | 'status'> & Destination

// Starts the schedule of each delivery again, or for the first time. Skips those in flight, and returns those that are due
// now. An expired lease is removed, so that the late result of its try does not end the new delivery. All are of one
// merchant.
export async function beginAgain(tx: Tx, all: readonly Redelivery[], now: Date): Promise<NotificationKey[]> {
  const [first] = all
  if (!first) return []
  const { merchant_id } = first
  const references = all.map(r => r.tx_reference)
  // A status change locks the payment while it adds a delivery, so none is added while `alone` is computed.
  await tx.rows(sql`
    select from payments where merchant_id = ${merchant_id} and tx_reference = any(${references})
    order by tx_reference for update`)
  // The same lock order as in takeAmongSiblings, so that the two cannot deadlock.
  await tx.rows(sql`
    select from deliveries where merchant_id = ${merchant_id} and tx_reference = any(${references})
    order by tx_reference, sequence for update`)
  const begun = await tx.rows<NotificationKey>(sql`
    insert into deliveries as d (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      next_try_at)
    select ${merchant_id}, again.*, ${now}::timestamptz, ${now}::timestamptz
    from unnest(${references}::text[], ${all.map(r => r.sequence)}::integer[], ${all.map(r => r.mode)}::text[],
      ${all.map(r => r.url)}::text[], ${all.map(r => r.lane)}::text[], ${all.map(r => r.style)}::text[],
      ${all.map(r => r.created_at)}::timestamptz[]) as again
    on conflict (merchant_id, tx_reference, sequence) do update set url = excluded.url, lane = excluded.lane,
      begun_at = excluded.begun_at, next_try_at = excluded.next_try_at, retry = false, parked = false,
      lease_token = null, lease_until = null, acknowledged_at = null, exhausted_at = null
    where d.lease_until is null or d.lease_until <= excluded.next_try_at
    returning d.merchant_id, d.tx_reference, d.sequence`)
  await tx.rows(sql`
    update deliveries d set alone = not exists (select from deliveries o where o.merchant_id = ${merchant_id}
      and o.tx_reference = d.tx_reference and o.sequence <> d.sequence and o.next_try_at is not null)
    where merchant_id = ${merchant_id} and tx_reference = any(${references}) and next_try_at is not null`)
  return begun
}
