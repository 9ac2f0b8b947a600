import { findByReferenceOrInvoice } from '../actions/payments/explainPayment.ts'
import { maskEmail, maskInstrument, maskPhone } from '../core/mask.ts'
import { figureIn } from '../core/money.ts'
import type { Attempt } from '../core/payment/attempt.ts'
import type { Payment } from '../core/payment/payment.ts'
import {
  chargedFigure,
  maskKnownNumbers,
  moneyText,
  paymentFacts,
  type PaymentHistory,
} from '../core/timeline/history.ts'
import type { Db } from '../store/db.ts'
import { requireMerchant } from './database.ts'
import { CommandError, notFound } from './failure.ts'
import { dateTime, type Fact, table } from './terminal.ts'

// Finds the payment that an operator means by a reference or an invoice id.
export async function requirePayment(db: Db, id: string, merchant_id?: string): Promise<Payment> {
  if (merchant_id) await requireMerchant(db, merchant_id)
  const matches = await findByReferenceOrInvoice(db, id, merchant_id)
  const [payment] = matches
  if (!payment) throw notFound(`No payment has the reference or invoice id ${id}.`)
  if (matches.length > 1)
    throw new CommandError(
      'ambiguous',
      `${matches.length} payments have the invoice id ${id}: give --merchant, or the reference of one.`,
      { shown: paymentTable(matches), data: { payments: matches.map(paymentData) } },
    )
  return payment
}

const masked = (text: string | null, mask: (text: string) => string) => (text === null ? null : mask(text))

// Omits the token, which opens the checkout page.
export const paymentData = (payment: Payment) => ({
  tx_reference: payment.tx_reference,
  merchant_id: payment.merchant_id,
  mode: payment.mode,
  invoice_id: payment.invoice_id,
  status: payment.status,
  status_reason: payment.status_reason,
  total: figureIn(payment.total, payment.currency),
  currency: payment.currency,
  description: payment.description,
  outlet: payment.outlet,
  name: payment.name,
  number: masked(payment.number, maskPhone),
  email: masked(payment.email, maskEmail),
  pymt_instrument: masked(payment.pymt_instrument, maskPhone),
  wallet_issuer_hint: payment.wallet_issuer_hint,
  payment_method: payment.payment_method,
  payment_instrument: payment.payment_instrument,
  payment_reference: payment.payment_reference,
  payment_time: payment.payment_time,
  charged: payment.charged === null ? null : figureIn(payment.charged, payment.currency),
  late: payment.late,
  card_type: payment.card_type,
  psp_response_code: payment.psp_response_code,
  psp_response_msg: payment.psp_response_msg,
  cancel_requested_at: payment.cancel_requested_at,
  success_url: payment.success_url,
  cancelled_url: payment.cancelled_url,
  deferred_url: payment.deferred_url,
  ipn_url: payment.ipn_url,
  extra: payment.extra,
  created_at: payment.created_at,
  updated_at: payment.updated_at,
  expires_at: payment.expires_at,
  redacted_at: payment.redacted_at,
})

// Omits the customer's input, the client address, and the id, which is the secret of the provider's callbacks.
export const attemptData = (attempt: Attempt, history: PaymentHistory) => ({
  number: attempt.number,
  payment_method: attempt.payment_method,
  provider_account: attempt.provider_account,
  state: attempt.state,
  reason: attempt.reason,
  instrument: maskInstrument(attempt.instrument),
  provider_ref: attempt.provider_ref,
  charged: chargedFigure(attempt, history),
  card_type: attempt.card_type,
  psp_response_code: attempt.psp_response_code,
  psp_response_msg: masked(attempt.psp_response_msg, text => maskKnownNumbers(text, history)),
  provider_code: masked(attempt.provider_code, code => maskKnownNumbers(code, history)),
  polls: attempt.polls,
  next_poll_at: attempt.next_poll_at,
  gave_up_at: attempt.gave_up_at,
  gave_up_for: attempt.gave_up_for,
  created_at: attempt.created_at,
  ended_at: attempt.ended_at,
})

// Includes the addresses and extra fields of the merchant's request.
export function allFacts(history: PaymentHistory): Fact[] {
  const { success_url, cancelled_url, deferred_url, ipn_url, extra } = history.payment
  return [
    ...paymentFacts(history).map(
      ([name, value]): Fact => [name, value instanceof Date ? dateTime(value) : value],
    ),
    ...Object.entries({ success_url, cancelled_url, deferred_url, ipn_url }),
    ...Object.entries(extra).map(([name, value]): Fact => [`extra_${name}`, value]),
  ]
}

export function paymentTable(payments: readonly Payment[]): string {
  return table(
    ['REFERENCE', 'INVOICE', 'STATUS', 'AMOUNT', 'MODE', 'MERCHANT', 'CREATED'],
    payments.map(payment => [
      payment.tx_reference,
      payment.invoice_id,
      payment.status,
      moneyText(payment.currency, payment.total),
      payment.mode,
      payment.merchant_id,
      dateTime(payment.created_at),
    ]),
    ['AMOUNT'],
  )
}
