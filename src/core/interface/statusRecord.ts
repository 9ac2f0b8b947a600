import { ownExtraNames } from '../extraNames.ts'
import { maskEmail, maskExtra, maskName, maskPhone } from '../mask.ts'
import { moneyNumber, twoDecimals } from '../money.ts'
import type { NewPayment, PaymentState } from '../payment/payment.ts'
import type { Refund } from '../refund/refund.ts'
import type { Warning } from './warnings.ts'

// The response of the status check. Existing clients read one of two formats: an object with the invoice id as its key,
// in which the amount is text, or a flat record.
type StatusRecord = ReturnType<typeof statusRecord>

// A signed status check gets the whole record. Otherwise the customer's details are masked, and of the merchant's own
// extra_ fields only those in public_extra have a value.
export type StatusView = 'whole' | { public_extra: readonly string[] }

// `refunds` are all refunds of the payment; most payments have none.
export function statusRecord(
  payment: PaymentState,
  now: Date,
  view: StatusView,
  refunds: readonly Refund[] = [],
) {
  const masked = view !== 'whole'
  const name = payment.name && masked ? maskName(payment.name) : payment.name
  const email = payment.email && masked ? maskEmail(payment.email) : payment.email
  const phone = payment.number && masked ? maskPhone(payment.number) : payment.number
  const [first, ...rest] = name?.trim().split(/\s+/) ?? []
  return {
    success: true,
    status: payment.status,
    status_reason: payment.status_reason,
    invoice_id: payment.invoice_id,
    tx_reference: payment.tx_reference,
    gw_invoice_id: payment.tx_reference,
    payment_reference: payment.payment_reference,
    amount: moneyNumber(payment.total, payment.currency) as number | string,
    currency: payment.currency,
    total_amount_charged: payment.charged === null ? null : moneyNumber(payment.charged, payment.currency),
    service_fee: null,
    payment_method: payment.payment_method,
    payment_instrument:
      payment.payment_instrument ?? (payment.pymt_instrument && maskPhone(payment.pymt_instrument)),
    payment_time: payment.payment_time?.toISOString() ?? null,
    reversed_at: payment.reversed_at?.toISOString() ?? null,
    reversed_amount:
      payment.reversed_amount === null ? null : moneyNumber(payment.reversed_amount, payment.currency),
    refunded_amount:
      payment.refunded_amount === null ? null : moneyNumber(payment.refunded_amount, payment.currency),
    refunds: refunds.map(refund => refundOf(refund, masked)),
    as_at: now.toISOString(),
    last_updated: payment.updated_at.toISOString(),
    narration: payment.description,
    buyer_firstname: first ?? null,
    buyer_lastname: rest.join(' ') || null,
    buyer_email: email,
    buyer_phone: phone,
    tran_type: payment.mode,
    outlet: payment.outlet,
    client_ip: null,
    client_ip_location: null,
    extra: extraOf(payment, {
      name,
      email,
      phone,
      sent: masked ? maskExtra(payment.extra, view.public_extra) : payment.extra,
    }),
  }
}

// The reason is the merchant's own text, which an unsigned status check does not show.
const refundOf = (refund: Refund, masked: boolean) => ({
  refund_id: refund.refund_id,
  refund_reference: refund.refund_reference,
  amount: moneyNumber(refund.amount, refund.currency),
  currency: refund.currency,
  state: refund.state,
  reason: masked ? '' : refund.reason,
  source: refund.source,
  requested_at: refund.created_at.toISOString(),
  succeeded_at: refund.succeeded_at?.toISOString() ?? null,
})

type CustomerFacts = {
  name: string | null
  email: string | null
  phone: string | null
  sent: NewPayment['extra']
}

const unmasked = ({ name, email, number: phone, extra: sent }: PaymentState): CustomerFacts => ({
  name,
  email,
  phone,
  sent,
})

// The `extra` object of the status check and the notification: the merchant's own fields, and ours.
export const extraOf = (
  payment: PaymentState,
  { name, email, phone, sent }: CustomerFacts = unmasked(payment),
) => ({
  ...sent,
  channel: payment.payment_method,
  wallet_issuer_hint: payment.wallet_issuer_hint,
  email,
  mobile_no: phone,
  Mobile_no: phone,
  name,
  card_type: payment.card_type,
  psp_response_code: payment.psp_response_code,
  psp_response_msg: payment.psp_response_msg,
})

// Both formats in one JSON text. The text is concatenated, because V8 is slow with an object whose first key always
// differs.
export function statusJson(
  payment: PaymentState,
  record: StatusRecord,
  warnings: readonly Warning[] = [],
): string {
  const flat = warnings.length > 0 ? { ...record, warnings } : record
  return `${keyed(payment, record).slice(0, -1)},${JSON.stringify(flat).slice(1)}`
}

// For older clients. Some of them ignore the letter case of names.
export const keyedStatusJson = (payment: PaymentState, record: StatusRecord) =>
  keyed(payment, { ...record, extra: withoutCaseDuplicates(record.extra) })

const keyed = (payment: PaymentState, record: object) =>
  `{${JSON.stringify(payment.invoice_id)}:${JSON.stringify({ ...record, amount: twoDecimals(payment.total, payment.currency) })}}`

// Drops names that differ only by letter case. Our lower-case names stay, and the first of the merchant's own.
export function withoutCaseDuplicates(
  extra: StatusRecord['extra'],
): Omit<StatusRecord['extra'], 'Mobile_no'> {
  const seen = new Set<string>()
  const isFirst = ([name]: [string, unknown]) => {
    const lower = name.toLowerCase()
    return ownExtraNames.has(lower) ? name === lower : seen.size < seen.add(lower).size
  }
  return Object.fromEntries(Object.entries(extra).filter(isFirst)) as StatusRecord['extra']
}

export const statusLine = (reference: string, status: string, now: Date) =>
  `${reference}~${status}~${now.toISOString()}`

export const errorRecord = (invoice_id: string, reason: string) => ({
  success: false,
  status: 'error',
  status_reason: reason,
  invoice_id,
  amount: '',
})

// The keys of the flat record. An invoice_id must not be one of them, because both formats share one object.
export const recordKeys: ReadonlySet<string> = new Set(
  (
    'success status status_code status_reason message invoice_id tx_reference gw_invoice_id ' +
    'payment_reference amount currency total_amount_charged service_fee payment_method payment_instrument ' +
    'payment_time reversed_at reversed_amount refunded_amount refunds as_at last_updated narration buyer_firstname buyer_lastname ' +
    'buyer_email buyer_phone tran_type outlet client_ip client_ip_location extra error request_id warnings'
  ).split(' '),
)
