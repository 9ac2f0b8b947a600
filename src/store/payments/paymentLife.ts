import type { Sql } from 'sql-template-tag'
import type { LogoFacts } from '../../core/merchant/branding.ts'
import type { SettingTexts } from '../../core/merchant/settings.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { type AttemptInJson, attemptOfJson } from './attempts.ts'
import { type PaymentKey, paymentKeysOf, unnestPaymentKeys } from './paymentKeys.ts'

// A payment with the settings of its merchant.
export type PaymentWithMerchant = Payment & {
  merchant_name: string
  merchant_active: boolean
  merchant_settings: SettingTexts
}

// The fields of a payment that its order contains, and that decide whether the order may be sent again.
export type OrderedPayment = Pick<
  PaymentWithMerchant,
  | 'merchant_id'
  | 'tx_reference'
  | 'invoice_id'
  | 'tx_token'
  | 'total'
  | 'currency'
  | 'description'
  | 'email'
  | 'name'
  | 'number'
  | 'status'
  | 'cancel_requested_at'
  | 'merchant_name'
>

export const merchantColumns = sql`
  m.name as merchant_name, m.active as merchant_active, m.settings as merchant_settings`

export const paymentWithMerchant = sql`
  select p.*, ${merchantColumns}
  from payments p join merchants m on m.merchant_id = p.merchant_id`

export type LockedPayment = PaymentWithMerchant & { left_by: readonly string[] } // visits that were redirected to the shop

// A transaction that changes a payment locks its row first, so that changes of one payment are serialized.
export const lockPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.one<LockedPayment>(named('lock_payment')`
    ${paymentWithMerchant}
    where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference} for update of p`)

export const findPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.one<PaymentWithMerchant>(named('find_payment')`
    ${paymentWithMerchant} where p.merchant_id = ${merchant_id} and p.tx_reference = ${tx_reference}`)

export const findPaymentsByKeys = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<PaymentWithMerchant>(named('find_payments_by_keys')`
    ${paymentWithMerchant}
    join ${unnestPaymentKeys(keys)} on k.merchant_id = p.merchant_id and k.tx_reference = p.tx_reference
    where ${ofMerchants('p', keys)} and ${ofMerchants('m', keys)}`)

type CheckoutRow = PaymentWithMerchant & { attempts: AttemptInJson[] | null; logo: LogoFacts | null }

export type CheckoutKey = Pick<Payment, 'merchant_id' | 'tx_token'>
export type StoredCheckout = Omit<CheckoutRow, 'attempts'> & { attempts: Attempt[] }

// Payments with their attempts, from one snapshot. Read by two statements, a payment that was paid in between would appear
// without its attempt.
export async function findCheckouts(
  tx: Tx,
  keys: readonly CheckoutKey[],
): Promise<(StoredCheckout | undefined)[]> {
  const rows = await tx.rows<CheckoutRow>(
    keys.length === 1 ? oneCheckout(keys[0] as CheckoutKey) : manyCheckouts(keys),
  )
  const found = new Map(rows.map(row => [`${row.merchant_id} ${row.tx_token}`, checkoutOf(row)]))
  return keys.map(({ merchant_id, tx_token }) => found.get(`${merchant_id} ${tx_token}`))
}

const checkoutOf = (row: CheckoutRow): StoredCheckout => ({
  ...row,
  attempts: (row.attempts ?? []).map(attemptOfJson),
})

const attemptsAndLogo = (attemptShards: Sql, logoShards: Sql) => sql`
  (select jsonb_agg(to_jsonb(a) order by a.number) from attempts a
    where a.merchant_id = p.merchant_id and a.tx_reference = p.tx_reference and ${attemptShards}) as attempts,
  (select jsonb_build_object('digest', l.digest, 'type', l.type, 'width', l.width, 'height', l.height)
    from merchant_logos l where l.merchant_id = p.merchant_id and ${logoShards}) as logo`

// Naming the merchant at every table lets a sharded database use one shard.
const oneCheckout = ({ merchant_id, tx_token }: CheckoutKey) => named('find_checkout')`
  select p.*, ${merchantColumns},
    ${attemptsAndLogo(sql`a.merchant_id = ${merchant_id}`, sql`l.merchant_id = ${merchant_id}`)}
  from payments p join merchants m on m.merchant_id = p.merchant_id
  where p.merchant_id = ${merchant_id} and p.tx_token = ${tx_token}`

const manyCheckouts = (keys: readonly CheckoutKey[]) => named('find_checkouts')`
  select p.*, ${merchantColumns}, ${attemptsAndLogo(ofMerchants('a', keys), ofMerchants('l', keys))}
  from unnest(${keys.map(key => key.merchant_id)}::text[], ${keys.map(key => key.tx_token)}::text[])
      as k (merchant_id, tx_token)
    join payments p on p.merchant_id = k.merchant_id and p.tx_token = k.tx_token and ${ofMerchants('p', keys)}
    join merchants m on m.merchant_id = p.merchant_id and ${ofMerchants('m', keys)}`

// `reopened_until`: the payment was reopened and expires then. Its pages may redirect to the shop again.
type PaymentToSave = Payment & { reopened_until?: Date }

// Everything that can change in a payment; the request itself never does. A change may add personal data of the payer
// again, so the payment has to be redacted again.
export function savePayments(all: readonly PaymentToSave[]) {
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('moved')`
    update payments p set status = c.status, status_reason = c.status_reason, updated_at = c.updated_at,
      late = c.late, cancel_requested_at = c.cancel_requested_at, payment_method = c.payment_method,
      payment_instrument = c.payment_instrument, payment_reference = c.payment_reference,
      payment_time = c.payment_time, charged = c.charged, card_type = c.card_type,
      psp_response_code = c.psp_response_code, psp_response_msg = c.psp_response_msg, redacted_at = null,
      paid_attempt_id = c.paid_attempt_id, reversed_at = c.reversed_at, reversed_amount = c.reversed_amount,
      refunded_amount = c.refunded_amount, expires_at = coalesce(c.reopened_until, p.expires_at),
      left_by = case when c.reopened_until is null then p.left_by else '{}' end
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(p => p.status)}::text[],
        ${all.map(p => p.status_reason)}::text[], ${all.map(p => p.updated_at)}::timestamptz[],
        ${all.map(p => p.late)}::boolean[], ${all.map(p => p.cancel_requested_at)}::timestamptz[],
        ${all.map(p => p.payment_method)}::text[], ${all.map(p => p.payment_instrument)}::text[],
        ${all.map(p => p.payment_reference)}::text[], ${all.map(p => p.payment_time)}::timestamptz[],
        ${all.map(p => p.charged)}::bigint[], ${all.map(p => p.card_type)}::text[],
        ${all.map(p => p.psp_response_code)}::text[], ${all.map(p => p.psp_response_msg)}::text[],
        ${all.map(p => p.paid_attempt_id)}::text[], ${all.map(p => p.reversed_at)}::timestamptz[],
        ${all.map(p => p.reversed_amount)}::bigint[], ${all.map(p => p.refunded_amount)}::bigint[],
        ${all.map(p => p.reopened_until ?? null)}::timestamptz[])
      as c (merchant_id, tx_reference, status, status_reason, updated_at, late, cancel_requested_at, payment_method,
        payment_instrument, payment_reference, payment_time, charged, card_type, psp_response_code,
        psp_response_msg, paid_attempt_id, reversed_at, reversed_amount, refunded_amount, reopened_until)
    where p.merchant_id = c.merchant_id and p.tx_reference = c.tx_reference and ${ofMerchants('p', all)}`
}

type Redirect = PaymentKey & { visit: string }

// Visits that were redirected to the shop.
export const saveRedirects = (all: readonly Redirect[]) => statementPart('redirected')`
  update payments p set left_by = p.left_by || r.visit
  from unnest(${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.tx_reference)}::text[],
      ${all.map(r => r.visit)}::text[]) as r (merchant_id, tx_reference, visit)
  where p.merchant_id = r.merchant_id and p.tx_reference = r.tx_reference and ${ofMerchants('p', all)}`
