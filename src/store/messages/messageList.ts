import { inboxName, type Message, type MessageKey } from '../../core/message/message.ts'
import type { NewPayment, Payment } from '../../core/payment/payment.ts'
import { named, sql, type Tx } from '../db.ts'

// A message with its payment. A notice to a merchant belongs to no payment.
export type ListedMessage = Message & { merchant_name: string } & (
    | PaymentColumns
    | { [Name in keyof PaymentColumns]: null }
  )
type PaymentColumns = Pick<NewPayment, 'invoice_id' | 'tx_token' | 'total' | 'currency' | 'description'> &
  Pick<Payment, 'status_reason' | 'payment_method' | 'payment_time' | 'refunded_amount'>

export type MessagePlace = Pick<Message, 'created_at' | 'message_id' | 'merchant_id'>

// `status_reason` is that of the change that queued the message: the status may have changed since.
const listed = (messages = sql`messages`) => sql`
  select m.*, s.name as merchant_name, p.invoice_id, p.tx_token, p.total, p.currency, p.description,
    p.payment_method, p.payment_time, p.refunded_amount, coalesce(change.reason, p.status_reason) as status_reason
  from ${messages} m
  join merchants s on s.merchant_id = m.merchant_id
  left join payments p on p.merchant_id = m.merchant_id and p.tx_reference = m.tx_reference
  left join lateral (
    select e.reason from events e
    where e.merchant_id = m.merchant_id and e.tx_reference = m.tx_reference and e.kind = 'status_changed'
      and e.to_status = m.topic and e.at <= m.created_at
    order by e.sequence desc limit 1) as change on true`

// `mailbox` as in the column; `name` is a reference or an invoice id.
export type MessageFilter = { mailbox?: string; name?: string }

// Searches the newest `most` messages only, so that the cost is bounded.
export const listMessagesLike = (tx: Tx, { mailbox, name }: MessageFilter, most: number, limit: number) =>
  tx.rows<ListedMessage>(sql`
    ${listed(sql`(select * from messages order by created_at desc limit ${most})`)}
    where ${mailbox === undefined ? sql`true` : sql`coalesce(m.mailbox, m.recipient) = ${mailbox}`}
      and ${name === undefined ? sql`true` : sql`(m.tx_reference = ${name} or p.invoice_id = ${name})`}
    order by m.created_at desc, m.message_id desc, m.merchant_id desc limit ${limit}`)

// Newest first, from a place on. Notices to different merchants can have the same id.
export const listMessages = (tx: Tx, before: MessagePlace | undefined, limit: number) =>
  tx.rows<ListedMessage>(sql`
    ${listed()}
    where (m.created_at, m.message_id, m.merchant_id) < (${before?.created_at ?? 'infinity'}::timestamptz,
      ${before?.message_id ?? ''}, ${before?.merchant_id ?? ''})
    order by m.created_at desc, m.message_id desc, m.merchant_id desc limit ${limit}`)

export const messagesByIds = (tx: Tx, merchant_id: string, ids: readonly string[]) =>
  tx.rows<Message>(sql`
    select * from messages where merchant_id = ${merchant_id} and message_id = any(${ids}::text[])
    order by created_at, message_id`)

export const findMessage = (tx: Tx, { merchant_id, message_id }: MessageKey) =>
  tx.one<ListedMessage>(sql`
    ${listed()} where m.merchant_id = ${merchant_id} and m.message_id = ${message_id}`)

// Those of these messages that were sent or are still to be sent; neither dropped nor in the inbox.
export const findSendable = (tx: Tx, merchant_id: string, ids: readonly string[]) =>
  tx.rows<Pick<Message, 'medium' | 'recipient'>>(named('find_leaving_messages')`
    select medium, recipient from messages
    where merchant_id = ${merchant_id} and message_id = any(${ids}::text[])
      and state <> 'dropped' and messenger is distinct from ${inboxName}
    order by medium desc`)

type MessageStats = { queued: number; oldest_due_at: Date | null }

// A message that is being sent is due when its lease ends.
export const messageStats = async (tx: Tx, now: Date) =>
  (await tx.one<MessageStats>(sql`
    select count(*)::integer as queued, min(next_try_at) filter (where next_try_at <= ${now}) as oldest_due_at
    from messages where next_try_at is not null`)) as MessageStats
