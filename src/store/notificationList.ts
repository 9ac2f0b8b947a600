import type { DeliveryState, Journey } from '../core/deliveryWords.ts'
import type { Notification, NotificationKey } from '../core/notification.ts'
import { type Query, sql, type Tx } from './db.ts'
import type { PaymentKey } from './paymentLife.ts'

// A notification and how its delivery goes, where it has one.
export type Told = Omit<Notification, 'body'> & Journey

const told = sql`
  n.merchant_id, n.tx_reference, n.sequence, n.mode, n.status, n.created_at, d.url, d.style, d.begun_at, d.tries,
  d.held, d.last_try_at, d.last_result, d.next_try_at, d.lease_until, d.acknowledged_at, d.exhausted_at`

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

export type ToldFilter = {
  state?: DeliveryState
  from?: Date
  until?: Date // not included
  tx_reference?: string
  limit: number
}

// Newest first.
export const listTold = (tx: Tx, merchant_id: string, f: ToldFilter) =>
  tx.rows<Told>(sql`
    select ${told} from ${withDelivery}
    where n.merchant_id = ${merchant_id} and ${f.state ? stateIs[f.state] : sql`true`}
      and n.created_at >= coalesce(${f.from ?? null}::timestamptz, '-infinity')
      and n.created_at < coalesce(${f.until ?? null}::timestamptz, 'infinity')
      and ${f.tx_reference === undefined ? sql`true` : sql`n.tx_reference = ${f.tx_reference}`}
    order by n.created_at desc, n.tx_reference desc, n.sequence desc limit ${f.limit}`)

export const toldOf = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<Told>(sql`
    select ${told} from ${withDelivery}
    where n.merchant_id = ${merchant_id} and n.tx_reference = ${tx_reference} order by n.sequence`)

// Of whichever merchant: a reference is one payment's alone.
export const findTold = (
  tx: Tx,
  merchant_ids: readonly string[],
  { tx_reference, sequence }: Omit<NotificationKey, 'merchant_id'>,
) =>
  tx.one<Told & { body: string }>(sql`
    select ${told}, n.body from ${withDelivery}
    where n.merchant_id = any(${merchant_ids}) and n.tx_reference = ${tx_reference} and n.sequence = ${sequence}`)

// Of all merchants, each of them counted up to the limit.
export const countExhausted = async (tx: Tx, since: Date, limit: number): Promise<number> =>
  Number(
    (
      await tx.one<{ count: bigint }>(sql`
        select count(*) as count from merchants m cross join lateral (
          select from deliveries d where d.merchant_id = m.merchant_id and d.exhausted_at >= ${since}
          limit ${limit}) as exhausted`)
    )?.count,
  )
