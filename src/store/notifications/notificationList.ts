import type { Mode } from '../../core/mode.ts'
import type { Delivery, DeliveryState, DeliverySummary } from '../../core/notification/delivery.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import { type Db, type Query, sql, type Tx } from '../db.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'
import { withShardedVariant } from '../shardedVariant.ts'

// A notification with the state of its delivery, if it has one.
export type NotificationRow = Omit<Notification, 'body'> & DeliverySummary

const summaryColumns = sql`
  n.merchant_id, n.tx_reference, n.sequence, n.mode, n.status, n.type, n.created_at, d.url, d.style, d.begun_at, d.tries,
  d.parked, d.last_try_at, d.last_result, d.next_try_at, d.lease_until, d.acknowledged_at, d.exhausted_at`

const withDelivery = sql`
  notifications n left join deliveries d on d.merchant_id = n.merchant_id and d.tx_reference = n.tx_reference
    and d.sequence = n.sequence`

// Literals and not parameters, because some of these have a partial index.
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

// Newest first. Matching rows may be rare, so at most `most` rows are read. `offset 0` makes PostgreSQL find each delivery
// by its key.
export const listNotifications = (tx: Tx, merchant_id: string, f: NotificationFilter, most: number) =>
  tx.rows<NotificationRow>(sql`
    select ${summaryColumns} from (
        select * from notifications n
        where merchant_id = ${merchant_id} and ${isInTime(f, sql`created_at`)} and ${isOf(f, sql`tx_reference`)}
        ${newestFirst} limit ${most}) as n
      left join lateral (
        select * from deliveries d where d.merchant_id = ${merchant_id} and d.tx_reference = n.tx_reference
          and d.sequence = n.sequence offset 0) as d on true
    where ${f.state ? stateIs[f.state] : sql`true`}
    ${newestFirst} limit ${f.limit}`)

// The newest of one mode. Rows get their position when the feed is read, so they are in one of two partial indexes, each of
// which ends with the newest.
export const newestNotificationsOfMode = (tx: Tx, merchant_id: string, mode: Mode, limit: number) => {
  const ofMode = sql`select * from notifications where merchant_id = ${merchant_id} and mode = ${mode}`
  return tx.rows<NotificationRow>(sql`
    select ${summaryColumns} from (
        (${ofMode} and position is null order by created_at desc limit ${limit})
        union all
        (${ofMode} and position is not null order by position desc limit ${limit})) as n
      left join lateral (
        select * from deliveries d where d.merchant_id = ${merchant_id} and d.tx_reference = n.tx_reference
          and d.sequence = n.sequence offset 0) as d on true
    ${newestFirst} limit ${limit}`)
}

// The time of the last row that such a query has read; undefined if there are no more behind it.
export const lastNotificationRead = async (
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

// Open deliveries of all merchants have a partial index, and so have the exhausted ones of each merchant. Returns
// undefined if even these are more than may be read.
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
    select ${summaryColumns} from d join notifications n on n.merchant_id = d.merchant_id
      and n.tx_reference = d.tx_reference and n.sequence = d.sequence
    where ${isInTime(f, sql`n.created_at`)} and ${isOf(f, sql`n.tx_reference`)}
    ${newestFirst} limit ${f.limit}`)
}

export const notificationRowsOf = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<NotificationRow>(sql`
    select ${summaryColumns} from ${withDelivery}
    where n.merchant_id = ${merchant_id} and n.tx_reference = ${tx_reference} order by n.sequence`)

// The merchant is not known, but a reference belongs to one payment only.
export const findNotificationRow = (
  tx: Tx,
  merchant_ids: readonly string[],
  { tx_reference, sequence }: Omit<NotificationKey, 'merchant_id'>,
) =>
  tx.one<NotificationRow & { body: string }>(sql`
    select ${summaryColumns}, n.body from ${withDelivery}
    where n.merchant_id = any(${merchant_ids}) and n.tx_reference = ${tx_reference} and n.sequence = ${sequence}`)

// Of all merchants, each counted up to the limit.
export async function countExhausted(db: Db, since: Date, limit: number): Promise<number> {
  const read = (query: Query) => db.one<{ count: number }>(query)
  const found = await withShardedVariant(
    () =>
      read(sql`
        select count(*)::integer as count from merchants m cross join lateral (
          select 1 from deliveries d where d.merchant_id = m.merchant_id and d.exhausted_at >= ${since}
          limit ${limit}) as exhausted`),
    () =>
      read(sql`
        select coalesce(sum(own.count), 0)::integer as count from (
          select least(count(*), ${limit}) as count from deliveries
          where exhausted_at >= ${since} group by merchant_id) as own`),
  )
  return found?.count ?? 0
}

// Deliveries of one merchant that were exhausted after `from`.
export const countMerchantExhausted = async (tx: Tx, merchant_id: string, mode: Mode, from: Date) =>
  (await tx.one<{ count: number; since: Date | null }>(sql`
    select count(*)::integer as count, min(created_at) as since from deliveries
    where merchant_id = ${merchant_id} and mode = ${mode} and exhausted_at > ${from}`)) as {
    count: number
    since: Date | null
  }

type Exhausted = Pick<Delivery, 'tx_reference' | 'sequence' | 'url' | 'last_result'> & {
  words: string | null
}

// The latest of them, with the error text of the last try.
export const listExhausted = (tx: Tx, merchant_id: string, mode: Mode, from: Date, limit: number) =>
  tx.rows<Exhausted>(sql`
    select d.tx_reference, d.sequence, d.url, d.last_result, d.last_words as words from deliveries d
    where d.merchant_id = ${merchant_id} and d.mode = ${mode} and d.exhausted_at > ${from}
    order by d.exhausted_at desc limit ${limit}`)

// Of these payments, those whose newest notification was tried and is not acknowledged.
export const unacknowledgedAmong = async (tx: Tx, merchant_id: string, references: readonly string[]) =>
  references.length === 0
    ? []
    : (
        await tx.rows<{ tx_reference: string }>(sql`
          select tx_reference from (
            select distinct on (tx_reference) tx_reference, acknowledged_at, tries from deliveries
            where merchant_id = ${merchant_id} and tx_reference = any(${references})
            order by tx_reference, sequence desc) newest
          where acknowledged_at is null and tries > 0`)
      ).map(({ tx_reference }) => tx_reference)
