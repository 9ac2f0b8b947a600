import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Attempt, idempotencyKeyOf } from '../../core/payment/attempt.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { plainEvents } from '../../core/redaction/redact.ts'
import { sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { keysOf as notificationKeys } from '../notifications/deliveries.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { type PaymentKey, paymentKeysOf, unnestPaymentKeys } from '../payments/paymentKeys.ts'

// `place` is PostgreSQL's text, because a Date loses the microseconds and the last row would be found again.
export type EndedPayment = PaymentKey & { place: string }

// Payments that ended before a moment and are not redacted yet, after a place. The condition is that of the index.
export const endedBefore = async (tx: Tx, before: Date, after: EndedPayment | undefined, limit: number) => {
  const found = await ofReachableMerchants(tx, among =>
    tx.rows<EndedPayment>(sql`
      select merchant_id, tx_reference, expires_at::text as place from payments
      where status <> 'awaiting_payment' and redacted_at is null and expires_at < ${before}
        ${after ? isAfter(after) : sql``} ${among.merchants('merchant_id')}
      order by expires_at, merchant_id, tx_reference limit ${limit}`),
  )
  return found.toSorted((a, b) => (a.place === b.place ? 0 : a.place < b.place ? -1 : 1)).slice(0, limit)
}

// How many payments ended before a moment and are not redacted yet, counted up to a limit, and when the next one ended.
export const countEndedBefore = async (tx: Tx, before: Date, limit: number) => {
  const read = await tx.one<{ waiting: number; next: Date | null }>(sql`
    select (select count(*)::integer from (
        select from payments where status <> 'awaiting_payment' and redacted_at is null and expires_at < ${before}
        limit ${limit}) as rows_found) as waiting,
      (select expires_at from payments where status <> 'awaiting_payment' and redacted_at is null
        and expires_at >= ${before} order by expires_at limit 1) as next`)
  return { waiting: read?.waiting ?? 0, next: read?.next ?? undefined }
}

const isAfter = ({ place, merchant_id, tx_reference }: EndedPayment) => sql`
  and (expires_at, merchant_id, tx_reference) > (${place}::timestamptz, ${merchant_id}, ${tx_reference})`

const rowsOf = (keys: readonly PaymentKey[], table: string) => sql`
  ${unnestPaymentKeys(keys)} join ${sql([table])} o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
    and ${ofMerchants('o', keys)}`

// What is open with these payments, and why they keep their personal data for now.
export const openOf = (
  tx: Tx,
  payments: readonly PaymentKey[],
  attempts: readonly Pick<Attempt, 'merchant_id' | 'attempt_id'>[],
) =>
  tx.rows<PaymentKey & { because: 'task' | 'dispute' | 'refund' }>(sql`
    with a as (select * from unnest(${attempts.map(a => a.merchant_id)}::text[],
      ${attempts.map(a => a.attempt_id)}::text[]) as a (merchant_id, attempt_id))
    select t.merchant_id, t.tx_reference, 'task' as because
      from a join tasks t on t.merchant_id = a.merchant_id and t.attempt_id = a.attempt_id
      where t.closed_at is null and ${ofMerchants('t', payments)}
    union all
    select d.merchant_id, d.tx_reference, 'dispute'
      from a join disputes d on d.merchant_id = a.merchant_id and d.attempt_id = a.attempt_id
      where d.state = 'open' and ${ofMerchants('d', payments)}
    union all
    select o.merchant_id, o.tx_reference, 'refund' from ${rowsOf(payments, 'refund_approvals')}
      where o.state = 'waiting'`)

type NotificationBody = NotificationKey & { body: string }

export const bodiesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<NotificationBody>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.body from ${rowsOf(keys, 'notifications')}`)

type SentTo = NotificationKey & { url: string; next_try_at: Date | null }

export const deliveriesOf = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<SentTo>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.url, o.next_try_at from ${rowsOf(keys, 'deliveries')}`)

type Answer = NotificationKey & { address: string | null; words: string | null; answer: string | null }

// What merchants' endpoints answered. Bytes that are no text are left out of it.
export const answersOf = async (tx: Tx, keys: readonly PaymentKey[]): Promise<Answer[]> => {
  const rows = await tx.rows<Omit<Answer, 'answer'> & { answer: Buffer | null }>(sql`
    select o.merchant_id, o.tx_reference, o.sequence, o.last_address as address, o.last_words as words,
      o.last_answer as answer from ${rowsOf(keys, 'deliveries')}
    union all
    select o.merchant_id, o.tx_reference, o.sequence, o.address, o.words, o.answer from ${rowsOf(keys, 'tries')}`)
  return rows.map(row => ({ ...row, answer: row.answer?.toString() ?? null }))
}

export type MessageName = { merchant_id: string; message_id: string; tx_reference: string }

// Those of these messages that are still to be sent.
export const unsentOf = (tx: Tx, names: readonly MessageName[]) =>
  tx.rows<MessageName>(sql`
    select m.merchant_id, m.message_id, m.tx_reference
    from unnest(${names.map(m => m.merchant_id)}::text[], ${names.map(m => m.message_id)}::text[])
        as k (merchant_id, message_id)
      join messages m on m.merchant_id = k.merchant_id and m.message_id = k.message_id
    where m.next_try_at is not null and ${ofMerchants('m', names)}`)

export const recipientsOf = (tx: Tx, names: readonly MessageName[]) =>
  tx.rows<PaymentKey & { recipient: string; mailbox: string | null }>(sql`
    select m.merchant_id, m.tx_reference, m.recipient, m.mailbox
    from unnest(${names.map(m => m.merchant_id)}::text[], ${names.map(m => m.message_id)}::text[])
        as k (merchant_id, message_id)
      join messages m on m.merchant_id = k.merchant_id and m.message_id = k.message_id
    where m.tx_reference is not null and ${ofMerchants('m', names)}`)

type Redaction = {
  payments: readonly Payment[]
  attempts: readonly Attempt[]
  bodies: readonly NotificationBody[]
  deliveries: readonly SentTo[]
  messages: readonly MessageName[]
}

// Removes what belongs to the payers of these payments. `bodies` and `deliveries` contain the values to store. It runs in
// the transaction that locks the payments, so that all of it is removed or nothing.
export async function redactPayments(tx: Tx, redaction: Redaction, now: Date) {
  await redactRows(tx, redaction, now)
  await redactAttempts(tx, redaction)
  await redactEvents(tx, redaction)
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
      redacted_at = coalesce(p.redacted_at, ${now})
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
      step = null, provider_text = null, psp_response_msg = null
    from ${ids} where a.merchant_id = r.merchant_id and a.attempt_id = r.attempt_id
      and ${ofMerchants('a', attempts)}`)
  await tx.rows(sql`
    update tasks t set owner_note = ''
    from ${ids} where t.merchant_id = r.merchant_id and t.attempt_id = r.attempt_id and t.owner_note <> ''
      and ${ofMerchants('t', attempts)}`)
  await tx.rows(sql`
    update sandbox_charges c set payer = null, note = null
    from unnest(${attempts.map(a => a.merchant_id)}::text[], ${attempts.map(idempotencyKeyOf)}::text[])
      as r (merchant_id, reference)
    where c.merchant_id = r.merchant_id and c.reference = r.reference and ${ofMerchants('c', attempts)}`)
}

// Texts of providers. Those of the gateway and of people stay, without the payer: freeTexts.ts.
const redactEvents = (tx: Tx, { payments }: Redaction) =>
  tx.rows(sql`
    update events e set reason = '' from ${unnestPaymentKeys(payments)}
    where e.merchant_id = k.merchant_id and e.tx_reference = k.tx_reference and e.reason <> ''
      and e.kind <> all(${[...plainEvents, 'task_closed']}::text[]) and ${ofMerchants('e', payments)}`)

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
