import { maskEmail, maskPhone } from '../core/mask.ts'
import { formatMoney } from '../core/money.ts'
import type { Payment } from '../core/payment.ts'
import { dateTime, type Fact } from './terminal.ts'

export const amount = ({ currency, total }: Payment) => `${currency} ${formatMoney(total)}`

const masked = (text: string | null, mask: (text: string) => string) => (text === null ? null : mask(text))

// A payment as programs read it. The token is left out: it opens the checkout page.
export const paymentData = (payment: Payment) => ({
  tx_reference: payment.tx_reference,
  merchant_id: payment.merchant_id,
  mode: payment.mode,
  invoice_id: payment.invoice_id,
  status: payment.status,
  status_reason: payment.status_reason,
  total: formatMoney(payment.total),
  currency: payment.currency,
  description: payment.description,
  outlet: payment.outlet,
  name: payment.name,
  number: masked(payment.number, maskPhone),
  email: masked(payment.email, maskEmail),
  pymt_instrument: masked(payment.pymt_instrument, maskPhone),
  wallet_issuer_hint: payment.wallet_issuer_hint,
  success_url: payment.success_url,
  cancelled_url: payment.cancelled_url,
  deferred_url: payment.deferred_url,
  ipn_url: payment.ipn_url,
  extra: payment.extra,
  created_at: payment.created_at,
  updated_at: payment.updated_at,
  expires_at: payment.expires_at,
})

// The same for people, without what the merchant did not send.
export function paymentFacts(payment: Payment, merchantName: string): Fact[] {
  const data = paymentData(payment)
  const { status, status_reason } = data
  const all: [string, string | null][] = [
    ['reference', data.tx_reference],
    ['invoice', data.invoice_id],
    ['merchant', `${merchantName} (${data.merchant_id})`],
    ['mode', data.mode],
    ['status', status_reason ? `${status}: ${status_reason}` : status],
    ['amount', amount(payment)],
    ['for', data.description],
    ['outlet', data.outlet],
    ['customer', data.name],
    ['phone', data.number],
    ['email', data.email],
    ['wallet', data.pymt_instrument],
    ['network', data.wallet_issuer_hint],
    ['success_url', data.success_url],
    ['cancelled_url', data.cancelled_url],
    ['deferred_url', data.deferred_url],
    ['ipn_url', data.ipn_url],
    ...Object.entries(data.extra).map(([name, value]): [string, string] => [`extra_${name}`, value]),
    ['created', dateTime(payment.created_at)],
    ['changed', dateTime(payment.updated_at)],
    ['expires', dateTime(payment.expires_at)],
  ]
  return all.flatMap(([name, value]): Fact[] => (value === null ? [] : [[name, value]]))
}
