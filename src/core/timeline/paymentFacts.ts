import { maskEmail, maskPhone } from '../mask.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'
import { redactedWords } from '../redaction/redact.ts'
import { money, type PaymentHistory, plainWords, withoutNumbers } from './history.ts'

export type PaymentFact = readonly [name: string, value: string | Date]

// A payment as an operator reads it, without what there is not. The token is not told: it opens the checkout.
export function paymentFacts(story: PaymentHistory): PaymentFact[] {
  const { payment, merchant } = story
  const { status, status_reason, currency, charged, psp_response_code, psp_response_msg } = payment
  const all: [string, string | Date | null][] = [
    ['reference', payment.tx_reference],
    ['invoice', payment.invoice_id],
    ['merchant', `${merchant.name} (${payment.merchant_id})`],
    ['mode', payment.mode],
    ['status', status_reason ? `${status}: ${status_reason}` : status],
    ['amount', money(currency, payment.total)],
    ['for', payment.description],
    ['outlet', payment.outlet],
    ['payer', redactedWords(payment)],
    ['customer', payment.name],
    ['phone', payment.number && maskPhone(payment.number)],
    ['email', payment.email && maskEmail(payment.email)],
    ['wallet', payment.pymt_instrument && maskPhone(payment.pymt_instrument)],
    ['network', payment.wallet_issuer_hint],
    ['method', payment.payment_method && paymentMethodName(payment.payment_method)],
    ['instrument', payment.payment_instrument],
    ["provider's ref", payment.payment_reference],
    ['paid', payment.payment_time],
    ['charged', charged === null ? null : money(currency, charged)],
    ['reversed', payment.reversed_at],
    ['reversed amount', payment.reversed_amount === null ? null : money(currency, payment.reversed_amount)],
    ['late', payment.late ? 'yes: the money came after we had said no' : null],
    ['card', payment.card_type],
    ['code', withoutNumbers([psp_response_code, psp_response_msg].filter(Boolean).join(': '), story) || null],
    ["provider's code", rawCode(story)],
    ['cancel wished', payment.cancel_requested_at],
    ['created', payment.created_at],
    ['changed', payment.updated_at],
    ['expires', payment.expires_at],
  ]
  return all.flatMap(([name, value]): PaymentFact[] =>
    value === null ? [] : [[name, typeof value === 'string' ? plainWords(value) : value]],
  )
}

// A paid attempt may still have the code of an earlier answer.
function rawCode(story: PaymentHistory): string | null {
  const latest = story.attempts.at(-1)
  return latest?.provider_code && latest.state !== 'paid' ? withoutNumbers(latest.provider_code, story) : null
}
