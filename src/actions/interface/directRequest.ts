import { malformed, type Refusal, tooManyRequests } from '../../core/interface/refusal.ts'
import type { PaymentRequest } from '../../core/interface/request.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { defaultCurrency } from '../../core/money.ts'
import { ghanaNumbers, parsePhone } from '../../core/phone.ts'
import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import type { PaymentMethod } from '../../core/provider/paymentMethod.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { methodsWithFields } from '../../runtime/providers/availableMethods.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPayment } from '../../store/payments/paymentLife.ts'
import { pay } from '../payments/pay.ts'

// The wallet that a request without a checkout page charges.
export type Direct = { payment_method: string; input: Record<string, string>; offered: boolean }

const methodOfNetwork = {
  mtn: 'mtn_mobile_money',
  airtel: 'airteltigo_money',
  tigo: 'airteltigo_money',
  airteltigo: 'airteltigo_money',
  vodafone: 'telecel_cash',
  telecel: 'telecel_cash',
} as const

// The request's field names, by the name of the form field.
const wireNames: Record<string, string> = { phone: 'pymt_instrument' }

const faultTexts: Record<FieldFault['fault'], string> = {
  missing: 'is required for this network',
  not_a_phone: 'is not a possible phone number',
  not_a_wallet: 'cannot have a wallet of this network',
  not_digits: 'must be digits',
  too_long: 'is too long',
  not_text: 'must not contain control characters',
  not_an_email: 'is not an email address',
  not_a_date: 'is not a date',
}

// Read before the payment is stored, so that a faulty request stores nothing.
export function readDirect(
  providerAccounts: PaymentDeps['providerAccounts'],
  { merchant_id, mode, settings }: Pick<Caller, 'merchant_id' | 'mode' | 'settings'>,
  request: PaymentRequest,
): { direct: Direct; fault: Refusal | undefined } {
  const payment_method = methodOfNetwork[request.extra_wallet_issuer_hint ?? 'mtn']
  const input = { phone: request.pymt_instrument ?? '', voucher_code: request.voucher_code ?? '' }
  const { total, currency = defaultCurrency, email = null, name = null } = request
  const methods = providerAccounts.availableMethods({ merchant_id, mode, currency, total, settings })
  const method = methodsWithFields(methods, { email, name }).find(
    one => one.payment_method === payment_method,
  )
  const fieldFault = method && readFormFields(method, input).faults[0]
  return {
    direct: { payment_method, input, offered: method !== undefined },
    fault:
      fieldFault && malformed(wireNames[fieldFault.field] ?? fieldFault.field, textOf(fieldFault, method)),
  }
}

// A number without a country code is a Ghanaian one, so an example of another country has its code.
function textOf({ fault }: FieldFault, { numbers }: PaymentMethod): string {
  if (fault !== 'not_a_wallet' || !numbers) return faultTexts[fault]
  const { example, region } = numbers
  const number = region === ghanaNumbers.region ? example : (parsePhone(example, region) ?? example)
  return `${faultTexts[fault]}, which takes mobile numbers like ${number}`
}

// Makes the only attempt of such a request: a repeated request finds the same one. Attempts are limited by `address`,
// because a browser could try one wallet after the other.
export async function payDirectly(
  deps: PaymentDeps,
  key: PaymentKey,
  direct: Direct,
  address: string | null,
  deadline: number,
) {
  if (!direct.offered) return
  const payment = await findPayment(deps.db.withDeadline(deadline), key)
  if (!payment) throw new Error('a stored payment is missing')
  const { payment_method, input } = direct
  const payRequest = { number: 1, payment_method, input, cause: 'merchant', address } as const
  const settings = readMerchantSettings(payment.merchant_settings)
  const result = await pay(deps, { ...payment, settings }, payRequest, deadline)
  if (result.done === 'refused' && result.obstacle === 'too_many') throw tooManyRequests(result.seconds)
}
