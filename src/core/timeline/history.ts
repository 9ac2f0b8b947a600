import { maskEmail, maskInstrument, maskPhone } from '../mask.ts'
import type { MerchantSettings } from '../merchant/settings.ts'
import { figureIn } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import type { PaymentEvent, Task } from '../payment/change.ts'
import type { Payment } from '../payment/payment.ts'
import { paymentMethodName } from '../provider/paymentMethod.ts'
import type { Refund } from '../refund/refund.ts'
import { redactionSentence } from '../redaction/redact.ts'

// A payment with everything that belongs to it.
export type PaymentHistory = {
  payment: Payment
  merchant: {
    name: string
    active: boolean
    settings: Pick<MerchantSettings, 'retry_after_failure' | 'reopen_unpaid' | 'expiry_minutes'>
  }
  attempts: readonly Attempt[]
  events: readonly PaymentEvent[]
  tasks: readonly Task[]
  refunds: readonly Refund[]
}

export const moneyText = (currency: string, minor: bigint) => `${currency} ${figureIn(minor, currency)}`

// The amount that the provider charged. If the currency differs from the requested one, the task has it, and the amount
// begins with its code.
export function chargedFigure(
  { attempt_id, charged, state }: Attempt,
  { payment, tasks }: Pick<PaymentHistory, 'payment' | 'tasks'>,
): string | null {
  if (charged === null) return null
  const isMismatch = (task: Task) => task.kind === 'amount_mismatch' && task.attempt_id === attempt_id
  const mismatch = state === 'paid' ? undefined : tasks.find(isMismatch)
  return mismatch && mismatch.currency !== payment.currency
    ? moneyText(mismatch.currency, charged)
    : figureIn(charged, payment.currency)
}

export function methodAndInstrument(attempt: Attempt): string {
  const instrument = maskInstrument(attempt.instrument)
  return instrument
    ? `${paymentMethodName(attempt.payment_method)}, ${instrument}`
    : paymentMethodName(attempt.payment_method)
}

// Control characters that a terminal or browser interprets. A provider's text may contain any of them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g

export const withoutControls = (text: string) => text.replace(controls, ' ')

const nationalDigits = 9 // of a number, without its prefix

// A provider's text may repeat the number that it received, in any notation.
export function maskKnownNumbers(text: string, { payment, attempts }: PaymentHistory): string {
  const numbers = [payment.number, payment.pymt_instrument, ...attempts.map(({ instrument }) => instrument)]
  let masked = withoutControls(text)
  for (const number of numbers) {
    if (!number?.startsWith('+')) continue
    const spellings = new RegExp(`\\+?\\d{0,4}${number.slice(-nationalDigits).replace(/\D/g, '')}`, 'g')
    masked = masked.replace(spellings, maskPhone(number))
  }
  return masked
}

type PaymentFact = readonly [name: string, value: string | Date]

// The details of a payment for an operator. The token is left out, because it opens the checkout.
export function paymentFacts(history: PaymentHistory): PaymentFact[] {
  const { payment, merchant } = history
  const { status, status_reason, currency, charged, psp_response_code, psp_response_msg } = payment
  const all: [string, string | Date | null][] = [
    ['reference', payment.tx_reference],
    ['invoice', payment.invoice_id],
    ['merchant', `${merchant.name} (${payment.merchant_id})`],
    ['mode', payment.mode],
    ['status', status_reason ? `${status}: ${status_reason}` : status],
    ['amount', moneyText(currency, payment.total)],
    ['for', payment.description],
    ['outlet', payment.outlet],
    ['payer', redactionSentence(payment)],
    ['customer', payment.name],
    ['phone', payment.number && maskPhone(payment.number)],
    ['email', payment.email && maskEmail(payment.email)],
    ['wallet', payment.pymt_instrument && maskPhone(payment.pymt_instrument)],
    ['network', payment.wallet_issuer_hint],
    ['method', payment.payment_method && paymentMethodName(payment.payment_method)],
    ['instrument', payment.payment_instrument],
    ["provider's ref", payment.payment_reference],
    ['paid', payment.payment_time],
    ['charged', charged === null ? null : moneyText(currency, charged)],
    ['reversed', payment.reversed_at],
    [
      'reversed amount',
      payment.reversed_amount === null ? null : moneyText(currency, payment.reversed_amount),
    ],
    ['refunded', payment.refunded_amount ? moneyText(currency, payment.refunded_amount) : null],
    ['late', payment.late ? 'yes: the money arrived after the payment had failed or was cancelled' : null],
    ['card', payment.card_type],
    [
      'code',
      maskKnownNumbers([psp_response_code, psp_response_msg].filter(Boolean).join(': '), history) || null,
    ],
    ["provider's code", rawCode(history)],
    ['cancel requested', payment.cancel_requested_at],
    ['created', payment.created_at],
    ['changed', payment.updated_at],
    ['expires', payment.expires_at],
  ]
  return all.flatMap(([name, value]): PaymentFact[] =>
    value === null ? [] : [[name, typeof value === 'string' ? withoutControls(value) : value]],
  )
}

// A paid attempt may still have the code of an earlier failure, which is not shown.
function rawCode(history: PaymentHistory): string | null {
  const latest = history.attempts.at(-1)
  return latest?.provider_code && latest.state !== 'paid'
    ? maskKnownNumbers(latest.provider_code, history)
    : null
}
