import type { Attempt } from '../../core/payment/attempt.ts'
import type { Task } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { plainEvents } from '../../core/redaction/redact.ts'
import { sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { paymentKeysOf } from '../payments/paymentKeys.ts'
import type { MessageName, NotedEvent, NotificationBody, SentTo } from './toRedact.ts'
import { keysOf as notificationKeys } from '../notifications/deliveryKeys.ts'

export type Redaction = {
  payments: readonly Payment[]
  attempts: readonly Attempt[]
  bodies: readonly NotificationBody[]
  deliveries: readonly SentTo[]
  tasks: readonly Task[]
  notes: readonly NotedEvent[]
  messages: readonly MessageName[]
}

// Takes out of all tables what is known of the payers of some payments; `bodies`, `deliveries`, `tasks` and `notes` come
// as they are to stand. In the transaction that holds the payments, so all of it goes or nothing.
export async function redactPayments(tx: Tx, given: Redaction, now: Date) {
  await redactRows(tx, given, now)
  await redactAttempts(tx, given)
  await redactWords(tx, given)
  await redactTellings(tx, given)
  await forgetMessagesOf(tx, given)
}

const unnestPayments = ({ payments }: Redaction) => {
  const { merchants, references } = paymentKeysOf(payments)
  return sql`unnest(${merchants}::text[], ${references}::text[])`
}

// `updated_at` stays: nothing has changed for those who ask how a payment stands.
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

// The simulated provider's books are another house's, but they are in our walls.
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

async function redactWords(tx: Tx, given: Redaction) {
  const { tasks, notes } = given
  await tx.rows(sql`
    update events e set reason = '' from ${unnestPayments(given)} as r (merchant_id, tx_reference)
    where e.merchant_id = r.merchant_id and e.tx_reference = r.tx_reference and e.reason <> ''
      and e.kind <> all(${[...plainEvents, 'task_closed']}::text[]) and ${ofMerchants('e', given.payments)}`)
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

async function redactTellings(tx: Tx, given: Redaction) {
  const { bodies, deliveries } = given
  if (bodies.length > 0)
    await tx.rows(sql`
      update notifications n set body = r.body
      from unnest(${bodies.map(b => b.merchant_id)}::text[], ${bodies.map(b => b.tx_reference)}::text[],
          ${bodies.map(b => b.sequence)}::integer[], ${bodies.map(b => b.body)}::text[])
        as r (merchant_id, tx_reference, sequence, body)
      where n.merchant_id = r.merchant_id and n.tx_reference = r.tx_reference and n.sequence = r.sequence
        and ${ofMerchants('n', bodies)}`)
  await tx.rows(sql`
    delete from tries t using ${unnestPayments(given)} as r (merchant_id, tx_reference)
    where t.merchant_id = r.merchant_id and t.tx_reference = r.tx_reference and ${ofMerchants('t', given.payments)}`)
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

const forgetMessagesOf = (tx: Tx, { messages }: Redaction) =>
  tx.rows(sql`
    delete from messages m
    using unnest(${messages.map(m => m.merchant_id)}::text[], ${messages.map(m => m.message_id)}::text[])
      as r (merchant_id, message_id)
    where m.merchant_id = r.merchant_id and m.message_id = r.message_id and ${ofMerchants('m', messages)}`)
