import type { NotificationKey } from '../../core/notification/notification.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Task } from '../../core/payment/change.ts'
import { sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf } from '../payments/paymentKeys.ts'
// `place` as PostgreSQL writes it: to the microsecond, or a look would begin with its own last one.
export type EndedPayment = PaymentKey & { place: string }

// Those whose time was over before a moment and that still say who paid, behind a place. The words are those of the
// index.
export const endedBefore = (tx: Tx, before: Date, after: EndedPayment | undefined, limit: number) =>
  tx.rows<EndedPayment>(sql`
    select merchant_id, tx_reference, expires_at::text as place from payments
    where status <> 'awaiting_payment' and redacted_at is null and expires_at < ${before}
      ${after ? isBehind(after) : sql``}
    order by expires_at, merchant_id, tx_reference limit ${limit}`)

const isBehind = ({ place, merchant_id, tx_reference }: EndedPayment) => sql`
  and (expires_at, merchant_id, tx_reference) > (${place}::timestamptz, ${merchant_id}, ${tx_reference})`

const keysOf = (keys: readonly PaymentKey[]) => {
  const { merchants, references } = paymentKeysOf(keys)
  return sql`unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)`
}
const ofThem = (keys: readonly PaymentKey[], table: string) => sql`
  ${keysOf(keys)} join ${sql([table])} o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
    and ${ofMerchants('o', keys)}`

type Named = Pick<Attempt, 'merchant_id' | 'attempt_id'>

export const tasksOfAttempts = (tx: Tx, attempts: readonly Named[]) =>
  tx.rows<Task>(sql`
    select t.* from unnest(${attempts.map(a => a.merchant_id)}::text[],
        ${attempts.map(a => a.attempt_id)}::text[]) as a (merchant_id, attempt_id)
      join tasks t on t.merchant_id = a.merchant_id and t.attempt_id = a.attempt_id
    where ${ofMerchants('t', attempts)}`)

export type NotificationBody = NotificationKey & { body: string }

export const bodiesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<NotificationBody>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.body from ${ofThem(keys, 'notifications')}`)

export type SentTo = NotificationKey & { url: string; next_try_at: Date | null }

export const deliveriesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<SentTo>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.url, o.next_try_at from ${ofThem(keys, 'deliveries')}`)

export type NotedEvent = NotificationKey & { reason: string }

// What a person wrote when a task was closed.
export const closingNotesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<NotedEvent>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.reason from ${ofThem(keys, 'events')}
    where o.kind = 'task_closed'`)

export type MessageName = { merchant_id: string; message_id: string; tx_reference: string }

// Of these, those that are still to be sent.
export const unsentOf = (tx: Tx, names: readonly MessageName[]) =>
  tx.rows<MessageName>(sql`
    select m.merchant_id, m.message_id, m.tx_reference
    from unnest(${names.map(m => m.merchant_id)}::text[], ${names.map(m => m.message_id)}::text[])
        as k (merchant_id, message_id)
      join messages m on m.merchant_id = k.merchant_id and m.message_id = k.message_id
    where m.next_try_at is not null and ${ofMerchants('m', names)}`)
