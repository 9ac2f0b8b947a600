import type { NotificationKey } from '../../core/notification/notification.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Task } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { plainEvents } from '../../core/redaction/redact.ts'
import { sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { keysOf as notificationKeys } from '../notifications/deliveries.ts'
import { type PaymentKey, paymentKeysOf, unnestPaymentKeys } from '../payments/paymentKeys.ts'

// `place` is PostgreSQL's text, because a Date loses the microseconds and the last row would be found again.
export type EndedPayment = PaymentKey & { place: string }

// Payments that ended before a moment and are not redacted yet, after a place. The condition is that of the index.
export const endedBefore = (tx: Tx, before: Date, after: EndedPayment | undefined, limit: number) =>
  tx.rows<EndedPayment>(sql`
    select merchant_id, tx_reference, expires_at::text as place from payments
    where status <> 'awaiting_payment' and redacted_at is null and expires_at < ${before}
      ${after ? isAfter(after) : sql``}
    order by expires_at, merchant_id, tx_reference limit ${limit}`)

const isAfter = ({ place, merchant_id, tx_reference }: EndedPayment) => sql`
  and (expires_at, merchant_id, tx_reference) > (${place}::timestamptz, ${merchant_id}, ${tx_reference})`

const rowsOf = (keys: readonly PaymentKey[], table: string) => sql`
  ${unnestPaymentKeys(keys)} join ${sql([table])} o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
    and ${ofMerchants('o', keys)}`

export const tasksOfAttempts = (tx: Tx, attempts: readonly Pick<Attempt, 'merchant_id' | 'attempt_id'>[]) =>
  tx.rows<Task & { owner_note: string }>(sql`
    select t.* from unnest(${attempts.map(a => a.merchant_id)}::text[],
        ${attempts.map(a => a.attempt_id)}::text[]) as a (merchant_id, attempt_id)
      join tasks t on t.merchant_id = a.merchant_id and t.attempt_id = a.attempt_id
    where ${ofMerchants('t', attempts)}`)

type NotificationBody = NotificationKey & { body: string }

export const bodiesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<NotificationBody>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.body from ${rowsOf(keys, 'notifications')}`)

type SentTo = NotificationKey & { url: string; next_try_at: Date | null }

export const deliveriesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<SentTo>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.url, o.next_try_at from ${rowsOf(keys, 'deliveries')}`)

type NotedEvent = NotificationKey & { reason: string }

// The notes of operators who closed a task.
export const closingNotesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<NotedEvent>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.reason from ${rowsOf(keys, 'events')}
    where o.kind = 'task_closed'`)

type MessageName = { merchant_id: string; message_id: string; tx_reference: string }

// Those of these messages that are still to be sent.
export const unsentOf = (tx: Tx, names: readonly MessageName[]) =>
  tx.rows<MessageName>(sql`
    select m.merchant_id, m.message_id, m.tx_reference
    from unnest(${names.map(m => m.merchant_id)}::text[], ${names.map(m => m.message_id)}::text[])
        as k (merchant_id, message_id)
      join messages m on m.merchant_id = k.merchant_id and m.message_id = k.message_id
    where m.next_try_at is not null and ${ofMerchants('m', names)}`)

type Redaction = {
  payments: readonly Payment[]
  attempts: readonly Attempt[]
  refunds: readonly Refund[]
  bodies: readonly NotificationBody[]
  deliveries: readonly SentTo[]
  tasks: readonly Task[]
  notedTasks: readonly Task[] // an operator has written a note
  notes: readonly NotedEvent[]
  messages: readonly MessageName[]
}

// Removes personal data of these payments from all tables. `refunds`, `bodies`, `deliveries`, `tasks` and `notes` contain the values to
// store. It runs in the transaction that locks the payments, so that all of it is removed or nothing.
export async function redactPayments(tx: Tx, redaction: Redaction, now: Date) {
  await redactRows(tx, redaction, now)
  await redactAttempts(tx, redaction)
  await redactRefunds(tx, redaction)
  await redactNotes(tx, redaction)
  await redactNotifications(tx, redaction)
  await deleteMessages(tx, redaction)
}

// `updated_at` stays: the status of the payment has not changed.
function redactRows(tx: Tx, { payments }: Redaction, now: Date) {
  const { merchants, references } = paymentKeysOf(payments)
  return tx.rows(sql`
    update payments p set number = null, email = null, name = null, description = null, line_items = null,
      pymt_instrument = null, psp_response_msg = null, success_url = null, cancelled_url = null,
      deferred_url = null, extra = '{}', ipn_url = r.ipn_url, payment_instrument = r.payment_instrument,
      redacted_at = ${now}
    from unnest(${merchants}::text[], ${references}::text[], ${payments.map(p => p.ipn_url)}::text[],
        ${payments.map(p => p.payment_instrument)}::text[])
      as r (merchant_id, tx_reference, ipn_url, payment_instrument)
    where p.merchant_id = r.merchant_id and p.tx_reference = r.tx_reference and ${ofMerchants('p', payments)}`)
}

// The simulated provider's tables are in the same database.
async function redactAttempts(tx: Tx, { attempts }: Redaction) {
  if (attempts.length === 0) return
  const ids = sql`unnest(${attempts.map(a => a.merchant_id)}::text[],
    ${attempts.map(a => a.attempt_id)}::text[]) as r (merchant_id, attempt_id)`
  await tx.rows(sql`
    update attempts a set instrument = null, payer = null, given = '{}', redirect_url = null, qr = null,
      psp_response_msg = null
    from ${ids} where a.merchant_id = r.merchant_id and a.attempt_id = r.attempt_id
      and ${ofMerchants('a', attempts)}`)
  await tx.rows(sql`
    update sandbox_charges c set payer = null, note = null
    from ${ids} where c.merchant_id = r.merchant_id and c.reference = r.attempt_id
      and ${ofMerchants('c', attempts)}`)
}

async function redactRefunds(tx: Tx, { refunds }: Redaction) {
  if (refunds.length > 0)
    await tx.rows(sql`
      update refunds o set reason = r.reason, state_reason = r.state_reason
      from unnest(${refunds.map(r => r.merchant_id)}::text[], ${refunds.map(r => r.refund_reference)}::text[],
          ${refunds.map(r => r.reason)}::text[], ${refunds.map(r => r.state_reason)}::text[])
        as r (merchant_id, refund_reference, reason, state_reason)
      where o.merchant_id = r.merchant_id and o.refund_reference = r.refund_reference
        and ${ofMerchants('o', refunds)}`)
}

async function redactNotes(tx: Tx, { payments, tasks, notes, notedTasks }: Redaction) {
  if (notedTasks.length > 0)
    await tx.rows(sql`
      update tasks t set owner_note = ''
      from unnest(${notedTasks.map(t => t.merchant_id)}::text[], ${notedTasks.map(t => t.attempt_id)}::text[],
          ${notedTasks.map(t => t.kind)}::text[]) as r (merchant_id, attempt_id, kind)
      where t.merchant_id = r.merchant_id and t.attempt_id = r.attempt_id and t.kind = r.kind
        and ${ofMerchants('t', notedTasks)}`)
  await tx.rows(sql`
    update events e set reason = '' from ${unnestPaymentKeys(payments)}
    where e.merchant_id = k.merchant_id and e.tx_reference = k.tx_reference and e.reason <> ''
      and e.kind <> all(${[...plainEvents, 'task_closed']}::text[]) and ${ofMerchants('e', payments)}`)
  if (notes.length > 0) {
    const { merchants, references, sequences } = notificationKeys(notes)
    await tx.rows(sql`
      update events e set reason = r.reason
      from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
          ${notes.map(n => n.reason)}::text[]) as r (merchant_id, tx_reference, sequence, reason)
      where e.merchant_id = r.merchant_id and e.tx_reference = r.tx_reference and e.sequence = r.sequence
        and ${ofMerchants('e', notes)}`)
  }
  if (tasks.length > 0)
    await tx.rows(sql`
      update tasks t set note = r.note, closed_note = r.closed_note
      from unnest(${tasks.map(t => t.merchant_id)}::text[], ${tasks.map(t => t.attempt_id)}::text[],
          ${tasks.map(t => t.kind)}::text[], ${tasks.map(t => t.note)}::text[],
          ${tasks.map(t => t.closed_note)}::text[]) as r (merchant_id, attempt_id, kind, note, closed_note)
      where t.merchant_id = r.merchant_id and t.attempt_id = r.attempt_id and t.kind = r.kind
        and ${ofMerchants('t', tasks)}`)
}

async function redactNotifications(tx: Tx, { payments, bodies, deliveries }: Redaction) {
  if (bodies.length > 0)
    await tx.rows(sql`
      update notifications n set body = r.body
      from unnest(${bodies.map(b => b.merchant_id)}::text[], ${bodies.map(b => b.tx_reference)}::text[],
          ${bodies.map(b => b.sequence)}::integer[], ${bodies.map(b => b.body)}::text[])
        as r (merchant_id, tx_reference, sequence, body)
      where n.merchant_id = r.merchant_id and n.tx_reference = r.tx_reference and n.sequence = r.sequence
        and ${ofMerchants('n', bodies)}`)
  await tx.rows(sql`
    delete from tries t using ${unnestPaymentKeys(payments)}
    where t.merchant_id = k.merchant_id and t.tx_reference = k.tx_reference and ${ofMerchants('t', payments)}`)
  if (deliveries.length === 0) return
  const { merchants, references, sequences } = notificationKeys(deliveries)
  await tx.rows(sql`
    update deliveries d set url = r.url, last_try = null, last_ms = null, last_address = null, last_status = null,
      last_words = null, last_answer = null
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${deliveries.map(d => d.url)}::text[]) as r (merchant_id, tx_reference, sequence, url)
    where d.merchant_id = r.merchant_id and d.tx_reference = r.tx_reference and d.sequence = r.sequence
      and ${ofMerchants('d', deliveries)}`)
}

const deleteMessages = (tx: Tx, { messages }: Redaction) =>
  tx.rows(sql`
    delete from messages m
    using unnest(${messages.map(m => m.merchant_id)}::text[], ${messages.map(m => m.message_id)}::text[])
      as r (merchant_id, message_id)
    where m.merchant_id = r.merchant_id and m.message_id = r.message_id and ${ofMerchants('m', messages)}`)
