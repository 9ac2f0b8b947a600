import { refundRecord } from '../interface/refundRequest.ts'
import { extraOf } from '../interface/statusRecord.ts'
import type { IpnStyle } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import { moneyNumber, twoDecimals } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import type { MoneyBackNotice, MoneyBackType } from '../payment/change.ts'
import type { NewPayment, Payment, Status } from '../payment/payment.ts'
import type { Refund, RefundState } from '../refund/refund.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

// An event that the merchant is notified of. Its body is written once and sent byte for byte on every try.
export type Notification = {
  merchant_id: string
  tx_reference: string
  sequence: number // counts the notifications of this payment
  mode: Mode
  status: Status
  type?: 'status' | MoneyBackType | RefundUpdateType // default status
  body: string
  created_at: Date
}

// A refund is delivered only if the merchant's ipn_refunds is on. Reversals and disputes are in the feed only.
export type RefundUpdateType = `refund.${RefundState}`

export type NotificationKey = Pick<Notification, 'merchant_id' | 'tx_reference' | 'sequence'>

// The header `webhook-id`. It never changes, so that a merchant can detect a repetition.
export const notificationId = ({ tx_reference, sequence }: Omit<NotificationKey, 'merchant_id'>) =>
  `${tx_reference}-N${sequence}`

export function readNotificationId(id: string): Omit<NotificationKey, 'merchant_id'> | undefined {
  const [, tx_reference, digits] = /^(\S{1,100})-N(\d{1,6})$/i.exec(id.trim()) ?? []
  return tx_reference && digits
    ? { tx_reference: tx_reference.toUpperCase(), sequence: Number(digits) }
    : undefined
}

export function notificationBody(payment: Payment, style: IpnStyle): string {
  return JSON.stringify({
    invoice_id: payment.invoice_id,
    tx_reference: payment.tx_reference,
    status: payment.status,
    amount: (style === 'basic' ? twoDecimals : moneyNumber)(payment.total, payment.currency),
    status_reason: payment.status_reason,
    payment_method: payment.payment_method,
    payment_time: payment.payment_time?.toISOString() ?? null,
    invoice: payment.invoice_id,
    currency: payment.currency,
    extra: extraOf(payment),
  })
}

// Whether a change is sent. Every change is in the feed.
export const isSent = (status: Status, style: IpnStyle) => style !== 'basic' || status !== 'awaiting_payment'

// The address of the request outranks the merchant's setting.
export const ipnUrlOf = (
  { ipn_url }: Pick<NewPayment, 'ipn_url'>,
  settings: { ipn_url: UntrustedUrl | null },
) => ipn_url ?? settings.ipn_url

// A refund or a dispute in the feed. The status does not change: the payment stays paid.
export const moneyBackBody = (payment: Payment, attempt: Attempt, notice: MoneyBackNotice) =>
  JSON.stringify({
    type: notice.type,
    invoice_id: payment.invoice_id,
    tx_reference: payment.tx_reference,
    status: payment.status,
    amount: moneyNumber(notice.amount, payment.currency),
    currency: payment.currency,
    reason: notice.reason,
    payment_method: attempt.payment_method,
    payment_reference: attempt.provider_ref,
    at: notice.at.toISOString(),
  })

// A refund in the feed, and in its notification. It has no `status`, because older clients take every notification for a
// change of the payment's status.
export function refundUpdateBody(refund: Refund, style: IpnStyle): string {
  const record = refundRecord(refund)
  const amount = style === 'basic' ? twoDecimals(refund.amount, refund.currency) : record.amount
  return JSON.stringify({ type: 'refund', ...record, amount })
}
