import type { DeliveryState, DeliverySummary } from '../../core/notification/deliveryWords.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import { type Query, sql, type Tx } from '../db.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'

// A notification and how its delivery goes, where it has one.
export type NotificationRow = Omit<Notification, 'body'> & DeliverySummary

const told = sql`
  n.merchant_id, n.tx_reference, n.sequence, n.mode, n.status, n.type, n.created_at, d.url, d.style, d.begun_at, d.tries,
  d.parked, d.last_try_at, d.last_result, d.next_try_at, d.lease_until, d.acknowledged_at, d.exhausted_at`

const withDelivery = sql`
  notifications n left join deliveries d on d.merchant_id = n.merchant_id and d.tx_reference = n.tx_reference
    and d.sequence = n.sequence`

// Written out, not asked by a parameter: some of these have an index of their own.
export const stateIs: Record<DeliveryState, Query> = {
  due: sql`d.next_try_at is not null`,
  acknowledged: sql`d.acknowledged_at is not null`,
  exhausted: sql`d.exhausted_at is not null`,
  none: sql`d.merchant_id is null`,
}

export type NotificationFilter = {
  state?: DeliveryState
  from?: Date
  until?: Date // not included
  tx_reference?: string
  limit: number
}

const isInTime = (f: NotificationFilter, created_at: Query) => sql`
  ${created_at} >= coalesce(${f.from ?? null}::timestamptz, '-infinity')
  and ${created_at} < coalesce(${f.until ?? null}::timestamptz, 'infinity')`
const isOf = (f: NotificationFilter, tx_reference: Query) =>
  f.tx_reference === undefined ? sql`true` : sql`${tx_reference} = ${f.tx_reference}`
const newestFirst = sql`order by n.created_at desc, n.tx_reference desc, n.sequence desc`

// Newest first. What is asked for may be rare: no more than so many are looked at, each delivery by its key, as `offset 0`
// makes PostgreSQL do.
export const listNotifications = (tx: Tx, merchant_id: string, f: NotificationFilter, most: number) =>
  tx.rows<NotificationRow>(sql`
    select ${told} from (
        select * from notifications n
        where merchant_id = ${merchant_id} and ${isInTime(f, sql`created_at`)} and ${isOf(f, sql`tx_reference`)}
        ${newestFirst} limit ${most}) as n
      left join lateral (
        select * from deliveries d where d.merchant_id = ${merchant_id} and d.tx_reference = n.tx_reference
          and d.sequence = n.sequence offset 0) as d on true
    where ${f.state ? stateIs[f.state] : sql`true`}
    ${newestFirst} limit ${f.limit}`)

// When the last one was made that such a look has looked at; undefined when there are no more behind it.
export const lastNotificationLookedAt = async (
  tx: Tx,
  merchant_id: string,
  f: NotificationFilter,
  most: number,
) => {
  const [last, next] = await tx.rows<{ created_at: Date }>(sql`
    select created_at from notifications n
    where merchant_id = ${merchant_id} and ${isInTime(f, sql`created_at`)} and ${isOf(f, sql`tx_reference`)}
    order by created_at desc offset ${most - 1} limit 2`)
  return next && last?.created_at
}

// Deliveries that have not ended, of all merchants, and those of one that were given up, have an index of their own.
// Undefined when even those are more than may be looked at.
export async function listNotificationsOfFew(
  tx: Tx,
  merchant_id: string,
  f: NotificationFilter,
  most: number,
) {
  if (f.state !== 'due' && f.state !== 'exhausted') return undefined
  const all =
    f.state === 'due'
      ? sql`next_try_at is not null`
      : sql`merchant_id = ${merchant_id} and exhausted_at is not null`
  const few = await tx.one<{ count: bigint }>(sql`
    select count(*) as count from (select 1 from deliveries where ${all} limit ${most + 1}) as counted`)
  if (Number(few?.count) > most) return undefined
  return tx.rows<NotificationRow>(sql`
    with d as materialized (select * from deliveries where merchant_id = ${merchant_id} and ${all})
    select ${told} from d join notifications n on n.merchant_id = d.merchant_id
      and n.tx_reference = d.tx_reference and n.sequence = d.sequence
    where ${isInTime(f, sql`n.created_at`)} and ${isOf(f, sql`n.tx_reference`)}
    ${newestFirst} limit ${f.limit}`)
}

export const notificationRowsOf = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<NotificationRow>(sql`
    select ${told} from ${withDelivery}
    where n.merchant_id = ${merchant_id} and n.tx_reference = ${tx_reference} order by n.sequence`)

// Of whichever merchant: a reference is one payment's alone.
export const findNotificationRow = (
  tx: Tx,
  merchant_ids: readonly string[],
  { tx_reference, sequence }: Omit<NotificationKey, 'merchant_id'>,
) =>
  tx.one<NotificationRow & { body: string }>(sql`
    select ${told}, n.body from ${withDelivery}
    where n.merchant_id = any(${merchant_ids}) and n.tx_reference = ${tx_reference} and n.sequence = ${sequence}`)

// Of all merchants, each of them counted up to the limit.
export const countExhausted = async (tx: Tx, since: Date, limit: number): Promise<number> =>
  Number(
    (
      await tx.one<{ count: bigint }>(sql`
        select count(*) as count from merchants m cross join lateral (
          select 1 from deliveries d where d.merchant_id = m.merchant_id and d.exhausted_at >= ${since}
          limit ${limit}) as exhausted`)
    )?.count,
  )
