import { formatMoney, moneyNumber, parseMoney, type Currency } from '../money.ts'
import type { Mode } from '../mode.ts'
import type { Refund, RefundFault } from '../refund/refund.ts'
import { isAtMost, isPlainText, onOneLine } from '../text.ts'
import type { Fields } from './json.ts'
import {
  conflictingRefund,
  type FieldDifference,
  malformed,
  missing,
  Refusal,
  unknownInvoice,
} from './refusal.ts'

// The merchant's requests about refunds. Both are always signed.
export const maxRefundIdLength = 64
export const maxRefundReasonLength = 200
export const refundIdPattern = '^[A-Za-z0-9._-]{1,64}$'
const refundIdForm = new RegExp(refundIdPattern)

export type RefundFields = {
  merchant_key: string
  invoice_id: string
  refund_id: string
  amount: string
  reason: string
  secure_hash: string | undefined
}

export type RefundCheckFields = Pick<RefundFields, 'merchant_key' | 'refund_id' | 'secure_hash'>

// The fields as sent; throws the refusal of the first that is missing or no text. `fields` has no empty values.
export function readRefundFields(fields: Fields): RefundFields {
  const { merchant_key, refund_id, secure_hash } = readRefundCheck(fields)
  if (fields.invoice_id === undefined) throw missing('invoice_id')
  if (fields.amount === undefined) throw malformed('amount', 'is missing or empty')
  const [invoice_id, amount] = [textIn(fields, 'invoice_id'), textIn(fields, 'amount')]
  const reason = fields.reason === undefined ? '' : textIn(fields, 'reason')
  return { merchant_key, invoice_id, refund_id, amount, reason, secure_hash }
}

export function readRefundCheck(fields: Fields): RefundCheckFields {
  if (fields.merchant_key === undefined) throw missing('merchant_key')
  if (fields.refund_id === undefined) throw malformed('refund_id', 'is missing or empty')
  const secure_hash = fields.secure_hash === undefined ? undefined : textIn(fields, 'secure_hash')
  return { merchant_key: textIn(fields, 'merchant_key'), refund_id: textIn(fields, 'refund_id'), secure_hash }
}

// JSON has numbers, too. An amount that was signed as text must be sent as text, so that it has one spelling.
function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw malformed(name, name === 'amount' ? 'must be text, such as "12.00"' : 'must be text')
}

// `.` and `..` cannot be a part of an address.
export const isRefundId = (id: string) => refundIdForm.test(id) && id !== '.' && id !== '..'

export const refundIdFault = () =>
  malformed('refund_id', '1 to 64 letters, digits, . _ or -, and neither . nor ..')

// The values that the hash does not cover or that need the currency of the payment.
export function readRefundReason(reason: string): string {
  const line = onOneLine(reason).trim()
  if (!isAtMost(line, maxRefundReasonLength))
    throw malformed('reason', `at most ${maxRefundReasonLength} characters`)
  if (!isPlainText(line)) throw malformed('reason', 'must not contain control characters or broken Unicode')
  return line
}

export function readRefundAmount(amount: string, currency: Currency): bigint {
  const minor = parseMoney(amount, currency)
  if (typeof minor === 'string') throw malformed('amount', minor)
  return minor
}

// The refund as the merchant sees it, in the answers, the status record, the feed and the notification.
export const refundRecord = (refund: Refund) => ({
  refund_id: refund.refund_id,
  refund_reference: refund.refund_reference,
  invoice_id: refund.invoice_id,
  tx_reference: refund.tx_reference,
  amount: moneyNumber(refund.amount, refund.currency),
  currency: refund.currency,
  state: refund.state,
  state_reason: refund.state_reason,
  reason: refund.reason,
  source: refund.source,
  kind: refund.kind,
  requested_at: refund.created_at.toISOString(),
  succeeded_at: refund.succeeded_at?.toISOString() ?? null,
})

type RequestedRefund = { invoice_id: string; amount: bigint; reason: string; currency: Currency; mode: Mode }

const refused = (http: number, code: Refusal['code'], message: string, field = 'amount') =>
  new Refusal(http, code, `${field}: ${message}`, field)

// Why the refund is not created, as an answer to the merchant.
export function refundRefusal(fault: RefundFault, requested: RequestedRefund): Refusal {
  const money = (minor: bigint) => `${requested.currency} ${formatMoney(minor, requested.currency)}`
  switch (fault.fault) {
    case 'no_such_payment':
      return unknownInvoice()
    case 'not_paid':
      return refused(409, 'GW-021', 'the payment is not paid, so there is nothing to refund', 'invoice_id')
    case 'not_allowed':
      return refused(403, 'GW-022', 'refunds are off for this merchant; ask your operator', 'merchant_key')
    case 'more_than_left': {
      const message =
        fault.left > 0n
          ? `is more than is left of this payment, which is ${money(fault.left)}`
          : 'nothing is left of this payment'
      return withLeft(refused(409, 'GW-020', message), fault.left, requested.currency)
    }
    case 'over_daily_limit': {
      const message = `is more than is left of your refund_daily_limit for today, which is ${money(fault.left)}`
      return withLeft(refused(409, 'GW-026', message), fault.left, requested.currency)
    }
    case 'too_old':
      return refused(
        409,
        'GW-023',
        `the provider refunds no payment that is older than ${fault.days} days`,
        'invoice_id',
      )
    case 'below_minimum':
      return refused(409, 'GW-024', `the provider refunds at least ${money(fault.minimum)}`)
    case 'only_whole':
      return refused(409, 'GW-025', `the provider refunds only the whole amount, ${money(fault.amount)}`)
    default: // other_fields
      return conflictingRefund(refundDifferences(fault.stored, requested))
  }
}

function withLeft(refusal: Refusal, left: bigint, currency: Currency): Refusal {
  refusal.left = moneyNumber(left > 0n ? left : 0n, currency)
  return refusal
}

function refundDifferences(stored: Refund, requested: RequestedRefund): FieldDifference[] {
  const pairs: [field: string, stored: string, sent: string][] = [
    ['invoice_id', stored.invoice_id, requested.invoice_id],
    [
      'amount',
      formatMoney(stored.amount, stored.currency),
      formatMoney(requested.amount, requested.currency),
    ],
    ['reason', stored.reason, requested.reason],
  ]
  return pairs
    .filter(([, before, after]) => before !== after)
    .map(([field, before, after]) =>
      requested.mode === 'test' ? { field, stored: before || null, sent: after || null } : { field },
    )
}
