import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import type { PaymentMethod } from '../../core/provider/paymentMethod.ts'
import { malformed, type Refusal, tooManyRequests } from '../../core/interface/refusal.ts'
import type { PaymentRequest } from '../../core/interface/request.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { defaultCurrency } from '../../core/money.ts'
import { ghanaNumbers, parsePhone } from '../../core/phone.ts'
import { methodsWithFields } from '../../runtime/providers/methodsWithFields.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPayment } from '../../store/payments/paymentLife.ts'
import type { PaymentDeps } from '../payments/deps.ts'
import { pay } from '../payments/pay.ts'

// What an older request without a page says about the wallet to charge.
export type Direct = { payment_method: string; input: Record<string, string>; offered: boolean }

const methodOfNetwork = {
  mtn: 'mtn_mobile_money',
  airtel: 'airteltigo_money',
  tigo: 'airteltigo_money',
  airteltigo: 'airteltigo_money',
  vodafone: 'telecel_cash',
  telecel: 'telecel_cash',
} as const

// The names of the wire, by the ask that they answer.
const wireNames: Record<string, string> = { phone: 'pymt_instrument' }

const faultWords: Record<FieldFault['fault'], string> = {
  missing: 'is needed for this network',
  not_a_phone: 'is not a possible phone number',
  not_a_wallet: 'cannot have a wallet of this network',
  not_digits: 'must be digits',
  too_long: 'is too long',
  not_text: 'must not contain control characters',
  not_an_email: 'is not an email address',
  not_a_date: 'is not a date',
}

// Read before the payment is stored, so that what is at fault leaves nothing behind.
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
  const wrong = method && readFormFields(method, input).faults[0]
  return {
    direct: { payment_method, input, offered: method !== undefined },
    fault: wrong && malformed(wireNames[wrong.field] ?? wrong.field, wordsOf(wrong, method)),
  }
}

// A request's number without a country code is one of Ghana, so the example of another country has its code.
function wordsOf({ fault }: FieldFault, { numbers }: PaymentMethod): string {
  if (fault !== 'not_a_wallet' || !numbers) return faultWords[fault]
  const { example, region } = numbers
  const shown = region === ghanaNumbers.region ? example : (parsePhone(example, region) ?? example)
  return `${faultWords[fault]}, which takes mobile numbers like ${shown}`
}

// The first and only attempt of such a request: sent again, it finds the same one. The address is that of whoever could
// try one wallet after the other.
export async function payDirectly(
  deps: PaymentDeps,
  key: PaymentKey,
  direct: Direct,
  address: string | null,
  deadline: number,
) {
  if (!direct.offered) return
  const payment = await findPayment(deps.db.until(deadline), key)
  if (!payment) throw new Error('a stored payment is not there')
  const { payment_method, input } = direct
  const payRequest = { number: 1, payment_method, input, cause: 'merchant', address } as const
  const settings = readMerchantSettings(payment.merchant_settings)
  const paying = await pay(deps, { ...payment, settings }, payRequest, deadline)
  if (paying.done === 'refused' && paying.obstacle === 'too_many') throw tooManyRequests(paying.seconds)
}
