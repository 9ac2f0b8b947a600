import type { Currency } from '../money.ts'
import type { Network, Numbers } from '../phone.ts'

export type TestEnding = {
  name: 'paid' | 'declined' | 'no_money' | 'no_answer' | 'late' | 'wrong_amount'
  payment_method: string
  input: Readonly<Record<string, string>> // by the name of the field
}

// One choice on the checkout page.
export type PaymentMethod = {
  payment_method: string // on the wire: mtn_mobile_money, card, ...
  label: string // a name, so the same in every language
  badge: { text: string; background: string; ink: string }
  currencies: readonly Currency[]
  limits?: Partial<Record<Currency, AmountLimits>> // of the provider; outside of them the method is not offered
  fields: readonly FormField[]
  next: 'prompt' | 'redirect' | 'qr' // the customer approves on the phone, on the provider's page, or by scanning a code
  lifetimeMs: number // how long the customer can pay after the order was sent: by the prompt, the page or the code
  network?: Network // a number of this network preselects the method
  numbers?: Numbers // that can have such a wallet, including ported ones; default: any
  dial?: { code: string; steps?: string } // how to find a prompt that did not appear
  isDeferred?: boolean // the customer leaves by deferred_url
  testNumbers?: Readonly<Record<string, TestEnding['name']>> // that the provider's test mode knows, and how they end
}

// In minor units. `step`: 100n if the provider accepts whole units only.
export type AmountLimits = { least?: bigint; most?: bigint; step?: bigint }

// An input field that a payment method needs. Its label is in the language files under its name, or in `words`.
export type FormField = {
  name: string // of the form field
  kind: 'phone' | 'digits' | 'text' | 'email' | 'date'
  maxLength?: number
  optional?: boolean
  unlessKnown?: 'email' | 'name' // shown only if the merchant has not sent it
  words?: Readonly<Record<string, { label: string; hint?: string }>> // by language, at least en
}

// Input that the provider asks for after the start: a code that it has sent, a voucher, a birthday.
export type Step = {
  name: string // otp, voucher, birthday; passed to `submit`
  text?: string // the provider's, for the customer
  fields: readonly FormField[]
}

// Display names. Providers have the same ones as labels, but the provider of an old payment may not exist any more.
const names: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'MTN MoMo',
  telecel_cash: 'Telecel Cash',
  airteltigo_money: 'AT Money',
  card: 'Card',
  ghqr: 'GhQR',
}

export const paymentMethodName = (payment_method: string) =>
  names[payment_method] ?? payment_method.replaceAll('_', ' ')
