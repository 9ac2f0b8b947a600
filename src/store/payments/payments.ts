import type { Mode } from '../../core/mode.ts'
import type { NewPayment, Payment, PaymentState, Status } from '../../core/payment/payment.ts'
import { isAlreadyThere } from '../databaseErrors.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'

export type InvoiceKey = Pick<NewPayment, 'merchant_id' | 'mode' | 'invoice_id'>
export type StoredRequest = Pick<
  NewPayment,
  | 'merchant_id'
  | 'mode'
  | 'invoice_id'
  | 'tx_reference'
  | 'tx_token'
  | 'request_digest'
  | 'status'
  | 'expires_at'
>

// Stores new payments in one statement, and returns what is stored under each invoice id: the new row, or the one that
// existed before. Running it again changes nothing.
export async function storePayments(db: Tx, payments: NewPayment[]): Promise<StoredRequest[]> {
  const inserted = await insertOnce(db, payments)
  const older = payments.filter(payment => !inserted.has(payment.tx_reference))
  const stored = new Map<string, StoredRequest>()
  if (older.length > 0) for (const row of await findRequests(db, older)) stored.set(invoiceKey(row), row)
  return payments.map(payment => {
    if (inserted.has(payment.tx_reference)) return payment
    const row = stored.get(invoiceKey(payment))
    if (!row) throw new Error('the payment was neither inserted nor found')
    return row
  })
}

// A first try whose connection was lost may still run on the server. Then the second try violates the unique key of its
// own reference, and a third one finds the row.
async function insertOnce(db: Tx, payments: NewPayment[]) {
  try {
    return await insertPayments(db, payments)
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
    return insertPayments(db, payments)
  }
}

// Sorted by the unique key, so that two batches with the same invoices wait for each other instead of deadlocking. Named, so
// that PostgreSQL parses this long statement once per connection.
async function insertPayments(db: Tx, payments: NewPayment[]): Promise<Set<string>> {
  const p = [...payments].sort((a, b) => (invoiceKey(a) < invoiceKey(b) ? -1 : 1))
  const query = named('insert_payments')`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, status_reason, total,
      currency, success_url, cancelled_url, deferred_url, ipn_url, number, email, name, description,
      line_items, outlet, pymt_instrument, wallet_issuer_hint, extra, request_digest, created_at, updated_at,
      expires_at, traceparent)
    select * from unnest(
      ${p.map(row => row.merchant_id)}::text[], ${p.map(row => row.tx_reference)}::text[],
      ${p.map(row => row.mode)}::text[], ${p.map(row => row.invoice_id)}::text[],
      ${p.map(row => row.tx_token)}::text[], ${p.map(row => row.status)}::text[],
      ${p.map(row => row.status_reason)}::text[], ${p.map(row => row.total)}::bigint[],
      ${p.map(row => row.currency)}::text[], ${p.map(row => row.success_url)}::text[],
      ${p.map(row => row.cancelled_url)}::text[], ${p.map(row => row.deferred_url)}::text[],
      ${p.map(row => row.ipn_url)}::text[], ${p.map(row => row.number)}::text[],
      ${p.map(row => row.email)}::text[], ${p.map(row => row.name)}::text[],
      ${p.map(row => row.description)}::text[],
      ${p.map(row => row.line_items && JSON.stringify(row.line_items))}::jsonb[], ${p.map(row => row.outlet)}::text[],
      ${p.map(row => row.pymt_instrument)}::text[], ${p.map(row => row.wallet_issuer_hint)}::text[],
      ${p.map(row => row.extra)}::jsonb[],
      ${p.map(row => row.request_digest)}::bytea[],
      ${p.map(row => row.created_at)}::timestamptz[],
      ${p.map(row => row.updated_at)}::timestamptz[],
      ${p.map(row => row.expires_at)}::timestamptz[], ${p.map(row => row.traceparent)}::text[])
    on conflict (merchant_id, mode, invoice_id) do nothing
    returning tx_reference`
  const rows = await db.rows<{ tx_reference: string }>(query)
  return new Set(rows.map(row => row.tx_reference))
}

export const findRequests = (tx: Tx, keys: InvoiceKey[]) =>
  tx.rows<StoredRequest>(named('find_requests')`
    select p.merchant_id, p.mode, p.invoice_id, p.tx_reference, p.tx_token, p.request_digest, p.status, p.expires_at
    from ${unnestKeys(keys)} join payments p using (merchant_id, mode, invoice_id)
    where ${ofMerchants('p', keys)}`)

export async function findPayments(tx: Tx, keys: InvoiceKey[]): Promise<(PaymentState | undefined)[]> {
  const rows = await tx.rows<PaymentState>(named('find_states')`
    select merchant_id, mode, invoice_id, p.tx_reference, p.status, p.status_reason, p.total, p.currency,
      p.number, p.email, p.name, p.description, p.outlet, p.pymt_instrument, p.wallet_issuer_hint, p.extra,
      p.updated_at, p.late, p.payment_method, p.payment_instrument, p.payment_reference, p.payment_time,
      p.charged, p.card_type, p.psp_response_code, p.psp_response_msg, p.reversed_at, p.reversed_amount,
      p.refunded_amount
    from ${unnestKeys(keys)} join payments p using (merchant_id, mode, invoice_id)
    where ${ofMerchants('p', keys)}`)
  const found = new Map(rows.map(row => [invoiceKey(row), row]))
  return keys.map(key => found.get(invoiceKey(key)))
}

const unnestKeys = (keys: InvoiceKey[]) => sql`
  unnest(${keys.map(key => key.merchant_id)}::text[], ${keys.map(key => key.mode)}::text[],
    ${keys.map(key => key.invoice_id)}::text[]) as k (merchant_id, mode, invoice_id)`

const invoiceKey = (key: InvoiceKey) => `${key.merchant_id}\n${key.mode}\n${key.invoice_id}`

// For an operator who has a reference or an invoice id, but not the merchant's id.
export const searchPayments = (tx: Tx, merchant_ids: string[], text: string) =>
  tx.rows<Payment>(sql`
    select * from payments where merchant_id = any(${merchant_ids}) and tx_reference = ${text}
    union all
    select * from payments
    where merchant_id = any(${merchant_ids}) and mode in ('test', 'live') and invoice_id = ${text}`)

export type PaymentFilter = {
  mode?: Mode
  status?: Status
  outlet?: string
  before?: string // a reference: only older ones
  limit: number
}

// Newest first, from the end of the merchant's key range: references sort by time, so no other index is needed. The filter
// may match few payments, so at most `most` are read.
export const listPayments = (tx: Tx, merchant_id: string, f: PaymentFilter, most: number) =>
  tx.rows<Payment>(sql`
    select * from (
      select * from payments
      where merchant_id = ${merchant_id} and ${isOlder(f)} order by tx_reference desc limit ${most}) as newest
    where (${f.mode ?? null}::text is null or mode = ${f.mode ?? null})
      and (${f.status ?? null}::text is null or status = ${f.status ?? null})
      and (${f.outlet ?? null}::text is null or outlet = ${f.outlet ?? null})
    order by tx_reference desc limit ${f.limit}`)

const isOlder = ({ before }: PaymentFilter) =>
  before === undefined ? sql`true` : sql`tx_reference < ${before}`

// The last payment that `listPayments` has read; undefined if there are no older ones.
export const lastReadReference = async (tx: Tx, merchant_id: string, f: PaymentFilter, most: number) => {
  const [last, next] = await tx.rows<{ tx_reference: string }>(sql`
    select tx_reference from payments where merchant_id = ${merchant_id} and ${isOlder(f)}
    order by tx_reference desc offset ${most - 1} limit 2`)
  return next && last?.tx_reference
}
