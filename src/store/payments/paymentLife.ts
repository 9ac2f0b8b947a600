import type { LogoFacts } from '../../core/merchant/face.ts'
import type { SettingWords } from '../../core/merchant/settings.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { named, sql, type Tx } from '../db.ts'
import { type AttemptInJson, attemptOfJson } from './attempts.ts'
import { type PaymentKey, paymentKeysOf } from './paymentKeys.ts'
// A payment and what its merchant says about it.
export type PaymentWithMerchant = Payment & {
  merchant_name: string
  merchant_active: boolean
  merchant_settings: SettingWords
}

export const paymentWithMerchant = sql`
  select p.*, m.name as merchant_name, m.active as merchant_active, m.settings as merchant_settings
  from payments p join merchants m on m.merchant_id = p.merchant_id`

// Whoever changes a payment holds its row: changes of one payment come one after the other.
export const lockPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.one<PaymentWithMerchant>(named('lock_payment')`
    ${paymentWithMerchant}
    where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference} for update of p`)

export const findPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.one<PaymentWithMerchant>(named('find_payment')`
    ${paymentWithMerchant} where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference}`)

export const findPaymentsByKeys = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<PaymentWithMerchant>(named('find_payments_by_keys')`
    ${paymentWithMerchant}
    join unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.tx_reference)}::text[])
      as k (merchant_id, tx_reference) on k.merchant_id = p.merchant_id and k.tx_reference = p.tx_reference`)

type CheckoutRow = PaymentWithMerchant & { attempts: AttemptInJson[] | null; logo: LogoFacts | null }

// A payment with its attempts, as they stood at one moment. Read one after the other, a payment that was paid in
// between would look like one that nobody has tried to pay.
export async function findCheckout(tx: Tx, merchant_id: string, tx_token: string) {
  const row = await tx.one<CheckoutRow>(named('find_checkout')`
    select found.*, (select jsonb_agg(to_jsonb(a) order by a.number) from attempts a
      where a.merchant_id = found.merchant_id and a.tx_reference = found.tx_reference) as attempts,
      (select jsonb_build_object('digest', l.digest, 'type', l.type, 'width', l.width, 'height', l.height)
        from merchant_logos l where l.merchant_id = found.merchant_id) as logo
    from (${paymentWithMerchant} where p.merchant_id = ${merchant_id} and p.tx_token = ${tx_token}) as found`)
  return row && { ...row, attempts: (row.attempts ?? []).map(attemptOfJson) }
}

// Its time begins anew, and a page that sees it end may go on to the shop as before.
export const prolongPayment = (tx: Tx, { merchant_id, tx_reference, expires_at }: Payment) =>
  tx.rows(sql`
    update payments set expires_at = ${expires_at}, left_by = '{}'
    where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}`)

// Everything that changes in a payment's life; what was asked for never does. What comes with a change may tell of the
// payer again.
const savePayment = (tx: Tx, p: Payment) =>
  tx.rows(named('save_payment')`
    update payments set status = ${p.status}, status_reason = ${p.status_reason}, updated_at = ${p.updated_at},
      late = ${p.late}, cancel_wished_at = ${p.cancel_wished_at}, payment_method = ${p.payment_method},
      payment_instrument = ${p.payment_instrument}, payment_reference = ${p.payment_reference},
      payment_time = ${p.payment_time}, charged = ${p.charged}, card_type = ${p.card_type},
      psp_response_code = ${p.psp_response_code}, psp_response_msg = ${p.psp_response_msg}, redacted_at = null
    where merchant_id = ${p.merchant_id} and tx_reference = ${p.tx_reference}`)

// The same for many. One alone is quicker by itself.
export function savePayments(tx: Tx, all: readonly Payment[]) {
  if (all.length === 1) return savePayment(tx, all[0] as Payment)
  const { merchants, references } = paymentKeysOf(all)
  return tx.rows(sql`
    update payments p set status = c.status, status_reason = c.status_reason, updated_at = c.updated_at,
      late = c.late::boolean, cancel_wished_at = c.cancel_wished_at, payment_method = c.payment_method,
      payment_instrument = c.payment_instrument, payment_reference = c.payment_reference,
      payment_time = c.payment_time, charged = c.charged::bigint, card_type = c.card_type,
      psp_response_code = c.psp_response_code, psp_response_msg = c.psp_response_msg, redacted_at = null
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(p => p.status)}::text[],
        ${all.map(p => p.status_reason)}::text[], ${all.map(p => p.updated_at)}::timestamptz[],
        ${all.map(p => String(p.late))}::text[], ${all.map(p => p.cancel_wished_at)}::timestamptz[],
        ${all.map(p => p.payment_method)}::text[], ${all.map(p => p.payment_instrument)}::text[],
        ${all.map(p => p.payment_reference)}::text[], ${all.map(p => p.payment_time)}::timestamptz[],
        ${all.map(p => p.charged?.toString() ?? null)}::text[], ${all.map(p => p.card_type)}::text[],
        ${all.map(p => p.psp_response_code)}::text[], ${all.map(p => p.psp_response_msg)}::text[])
      as c (merchant_id, tx_reference, status, status_reason, updated_at, late, cancel_wished_at, payment_method,
        payment_instrument, payment_reference, payment_time, charged, card_type, psp_response_code,
        psp_response_msg)
    where p.merchant_id = c.merchant_id and p.tx_reference = c.tx_reference`)
}
