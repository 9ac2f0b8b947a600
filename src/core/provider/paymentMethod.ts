import type { Currency } from '../money.ts'
import type { Network, Numbers } from '../phone.ts'

export type TestEnding = {
  name: 'paid' | 'declined' | 'no_money' | 'no_answer' | 'late' | 'wrong_amount'
  payment_method: string
  input: Readonly<Record<string, string>> // by the name of the field
}

// One row of "How would you like to pay?".
export type PaymentMethod = {
  payment_method: string // on the wire: mtn_mobile_money, card, ...
  label: string // a name, so the same in every language
  badge: { text: string; background: string; ink: string }
  currencies: readonly Currency[]
  limits?: Partial<Record<Currency, AmountLimits>> // that the provider can carry; what it cannot is not offered
  fields: readonly FormField[]
  next: 'prompt' | 'redirect' | 'qr' // on the phone, on the provider's page, or by a code to scan
  lifetimeMs: number // so long the customer may still pay what was sent: the prompt, the page, the code
  network?: Network // whose numbers are guessed to be this way's
  numbers?: Numbers // that can have such a wallet, ported ones among them; without it, any
  dial?: { code: string; steps?: string } // how to find a prompt that did not show by itself
  isDeferred?: boolean // the customer leaves by deferred_url
}

// In minor units. `step`: 100n where the provider takes whole units alone.
export type AmountLimits = { least?: bigint; most?: bigint; step?: bigint }

// What a way wants to know of the customer; it draws itself on the page. Its words stand in the language files
// under its name, or come along here.
export type FormField = {
  name: string // of the form field
  kind: 'phone' | 'digits' | 'text' | 'email' | 'date'
  maxLength?: number
  optional?: boolean
  unlessKnown?: 'email' | 'name' // asked only where the merchant has not sent it
  words?: Readonly<Record<string, { label: string; hint?: string }>> // by language, at least en
}

// What the provider wants to know after the start: a code that it has sent, a voucher, a birthday. The page draws it.
export type Step = {
  name: string // otp, voucher, birthday: `submit` is told which
  text?: string // the provider's, for the customer
  fields: readonly FormField[]
}
